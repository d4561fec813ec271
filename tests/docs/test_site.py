"""The site builds strictly and without a network, and nothing is missing in it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.check_site import problems
from scripts.site_pages import uri_of, with_links
from scripts.write_llms import PAGE, written

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    return folder


def test_nothing_is_missing_in_it_and_nothing_comes_from_elsewhere(site: Path):
    assert [*problems(site)] == []


def test_every_page_is_in_it_for_people_and_for_models(site: Path):
    for page in DOCS.rglob("*.md"):
        place = site / page.relative_to(DOCS)
        name = "index" if page.stem == "README" else page.stem
        assert place.with_name(f"{name}.html").is_file()
        assert place.read_bytes() == page.read_bytes()
    for page in re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text(encoding="utf-8")):
        assert (site / page).is_file()


def test_the_list_for_models_is_fresh():
    assert PAGE.read_text(encoding="utf-8") == written(), "run scripts/write_llms.py"


def test_every_page_but_a_decision_is_in_its_navigation():
    listed = set(
        re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    )
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert {page for page in pages - listed if not page.startswith("decisions/0")} == set()


def test_the_list_for_models_has_every_page_but_decisions():
    listed = set(re.findall(r"^- \[.*?\]\((\S+)\)", written(), re.MULTILINE))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert {page for page in pages if not page.startswith("decisions/")} == listed


def test_a_link_out_of_docs_leads_to_a_page_of_that_file():
    assert with_links("[a](../../examples/gemini.py)", "guide/gemini.md") == (
        "[a](../repository/examples/gemini.py.md)"
    )
    assert with_links("[a](../examples)", "index.md") == "[a](repository/examples/README.md)"
    assert with_links("[a](gemini.py)", "repository/examples/README.md") == "[a](gemini.py.md)"


def test_a_link_into_docs_and_its_heading_stay():
    text = "[a](calling.md#rules), [b](#here), [c](https://example.org/x)"
    assert with_links(text, "guide/gateway.md") == text
    readme = with_links("[a](docs/guide/calling.md#rules)", "repository/README.md")
    assert readme == "[a](../guide/calling.md#rules)"


def test_what_looks_like_a_link_in_code_stays():
    text = "```py\nx[0](../examples/gemini.py)\n```\n"
    assert with_links(text, "index.md") == text


def test_a_file_that_is_no_page_has_a_place_of_its_own():
    assert uri_of(ROOT / "deploy" / "nginx.conf") == "repository/deploy/nginx.conf.md"
    assert uri_of(ROOT / "training" / "own") == "repository/training/own/index.md"


def test_the_index_of_examples_is_complete():
    listed = re.findall(r"^\| \[(\S+)\]", (ROOT / "examples/README.md").read_text(), re.MULTILINE)
    there = [path.name for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".mjs")]
    assert sorted(listed) == sorted(there)
