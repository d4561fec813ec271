import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.evaluation import EvalFound, EvalResult
from toolcrib.evaluate.measures import score
from toolcrib.evaluate.report import Report, ReportSide

HOSTILE = [
    "</summary><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<style>*{display:none}</style>",
    "\u202ereversed\u2066",
    "\x00\x1b[31m\ud800",
    "&lt;b&gt;",
    "x" * 100_000,
]
PLACES = ("query", "id", "split", "tool", "description", "label", "about")


class Tags(HTMLParser):
    """The tags and attributes of a page, and all text outside of its style."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self._depth: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def case(id: str, *relevant: str, **others: object) -> EvalCase:
    values = {"id": id, "query": id, "relevant": [*relevant], **others}
    return EvalCase.model_validate(values)


def result(cases: list[EvalCase], ranked: dict[str, list[str]], chance: float = 0.9) -> EvalResult:
    found = {id: EvalFound(ids, ids, chance) for id, ids in ranked.items()}
    pairs = [(each, ranked[each.id]) for each in cases]
    splits = {each.split: score([(each, ranked[each.id])]) for each in cases}
    return EvalResult(found, score(pairs), splits, {"English": score(pairs)})


CASES = [
    case("right one", "a", split="x"),
    case("second one", "b", split="y"),
    case("wrong one", "z", split="y"),
    case("in vain", split="y"),
    case("rightly empty", split="y"),
]
RANKED = {
    "right one": ["a"],
    "second one": ["a", "b"],
    "wrong one": ["a", "b"],
    "in vain": ["a"],
    "rightly empty": [],
}


def page(against: dict[str, list[str]] | None = None) -> str:
    other = ReportSide("search.fusion=rrf", result(CASES, against)) if against else None
    cases = {each.id: each for each in CASES}
    side = ReportSide("now", result(CASES, RANKED))
    return Report("5 cases.", cases, lambda id: f"about {id}", side, other).html()


def kinds(html: str) -> dict[str, str]:
    """The classes of each case by its query."""
    pattern = r'<details class="([^"]*)"(?: open)?>.*?dir="auto">([^<]*)</span>'
    found = re.findall(pattern, html, re.DOTALL)
    return {query: classes for classes, query in found}


def test_each_case_is_of_a_kind_that_can_be_shown_alone():
    assert kinds(page()) == {
        "right one": "right",
        "second one": "second",
        "wrong one": "wrong sure",
        "in vain": "wrong sure",
        "rightly empty": "right",
    }
    html = page()
    for kind, count in (("wrong", 2), ("second", 1), ("sure", 2)):
        assert re.search(rf'id="show-{kind}">\n<label for="show-{kind}">[^<]* · {count}<', html)
        assert f"#show-{kind}:checked ~ .cases > :not(.{kind})" in html
    assert "show-better" not in html.partition("</style>")[2]


def test_the_figures_are_there_and_the_right_hits_are_marked():
    html = page()
    assert "<dt>first hit right</dt><dd>33.3&nbsp;%</dd>" in html
    assert "<dt>found within 5</dt><dd>66.7&nbsp;%</dd>" in html
    assert "<dt>nothing fits, left empty</dt><dd>50.0&nbsp;%</dd>" in html
    assert '<li class="hit"><bdi class="name">b</bdi><small dir="auto">about b</small></li>' in html
    assert "<h2>By group</h2>" in html
    assert "<h2>By language</h2>" not in html  # there is one
    assert "<polyline" in html


def test_two_settings_stand_side_by_side():
    html = page(RANKED | {"wrong one": ["z"], "right one": ["b"]})
    assert kinds(html)["wrong one"] == "wrong sure differs better"
    assert kinds(html)["right one"] == "right differs worse"
    assert "found with search.fusion=rrf" in html
    assert '66.7&nbsp;% <b class=""' in html or "versus" in html
    assert "place 1 → not found" in html


def test_the_cases_that_differ_come_first_and_say_what_has_moved():
    html = page(RANKED | {"wrong one": ["z", "b", "a"], "right one": ["b"]})
    assert list(kinds(html))[:2] == ["right one", "wrong one"]  # the worst loss first
    assert html.count('" open>') == 2
    assert (
        'id="show-differs" checked>\n<label for="show-differs">not the same with both · 2<' in html
    )
    assert 'id="show-all">' in html
    assert "▲ new. about z" in html
    assert "▼ from place 1. about a" in html
    assert "about b" in html
    same = page(RANKED)
    assert 'id="show-all" checked>' in same
    assert "show-differs" not in same.partition("</style>")[2]
    assert " open>" not in same


def test_a_case_of_two_needs_says_how_many_were_found():
    cases = [case("two", "a", "z")]
    side = ReportSide("", result(cases, {"two": ["a", "b"]}))
    html = Report("", {"two": cases[0]}, str, side).html()
    assert '<span class="verdict">1 of 2</span>' in html


def test_the_page_may_load_nothing_and_run_nothing():
    html = page()
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'" in html
    assert not re.search(r"url\(|@import|src=|href=|https?:", html)
    seen = Tags(html)
    assert "script" not in seen.tags
    assert not [name for name in seen.attributes if name.startswith("on") or name == "style"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_shown_and_never_obeyed(place: str, text: str):
    words = dict.fromkeys(PLACES, "plain") | {place: text}
    one = case(words["id"], words["tool"], query=words["query"], split=words["split"])
    other = case("other", split="x")
    ranked = {one.id: [words["tool"]], "other": []}
    side = ReportSide(words["label"], result([one, other], ranked))
    cases = {one.id: one, "other": other}
    html = Report(words["about"], cases, lambda _id: words["description"], side, side).html()
    plain = Report("plain", {"q": case("q", "t", split="s"), "other": other}, str, *_plain()).html()
    assert Tags(html).tags == Tags(plain).tags
    assert Tags(html).attributes == Tags(plain).attributes
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b\ud800]", html)
    assert len(html) < 100_000
    html.encode()


def _plain() -> tuple[ReportSide, ReportSide]:
    cases = [case("q", "t", split="s"), case("other", split="x")]
    side = ReportSide("plain", result(cases, {"q": ["t"], "other": []}))
    return side, side
