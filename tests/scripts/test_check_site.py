"""What is missing in a site is found, and what it would load from elsewhere."""

from pathlib import Path

import pytest

from scripts.check_site import problems


def site(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text, encoding="utf-8")
    return folder


def test_a_site_that_is_whole(tmp_path: Path):
    page = '<a href="b.html#two">b</a> <a href="#one">up</a> <h1 id="one"></h1><img src="i.svg">'
    other = '<h2 id="two"></h2><link rel="stylesheet" href="s.css">'
    style = "p{background:url(i.svg)}"
    whole = site(tmp_path, a_html=page, b_html=other, i_svg="<svg/>", s_css=style)
    assert [*problems(whole)] == []


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<a href="b.html">', "links to b.html, which is not there"),
        ('<a href="#two">', "links to #two, which has no such heading"),
        ('<a href="a.html#two">', "links to a.html#two, which has no such heading"),
        ('<img src="b.png">', "loads b.png, which is not there"),
        ('<img src="https://x.example/b.png">', "loads https://x.example/b.png from the network"),
        ('<script src="//x.example/b.js"></script>', "loads //x.example/b.js from the network"),
        ('<link rel="preconnect" href="https://x.example">', "loads https://x.example from the"),
        ('<p style="background:url(https://x.example/b)">', "loads https://x.example/b from"),
    ],
)
def test_what_is_wrong_is_found(tmp_path: Path, html: str, problem: str):
    [found] = problems(site(tmp_path, a_html=html))
    assert found.startswith(f"a.html {problem}")


def test_a_style_that_asks_elsewhere_is_found(tmp_path: Path):
    [found] = problems(site(tmp_path, s_css="@font-face{src:url('https://x.example/f.woff')}"))
    assert "from the network" in found


def test_a_reader_may_follow_links_to_other_sites(tmp_path: Path):
    page = '<a href="https://x.example">x</a> <a href="mailto:a@x.example">mail</a>'
    assert [*problems(site(tmp_path, a_html=page))] == []
