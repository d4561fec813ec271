"""The page of the API shows how a thing is used, in words that the tests run."""

from pathlib import Path

import pytest

from scripts import api_examples
from scripts.api_examples import DOCS, examples, sources

API = (DOCS / "api.md").read_text(encoding="utf-8")


@pytest.fixture
def of_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The examples that a page has."""

    def find(text: str) -> dict[str, str]:
        page = tmp_path / "guide" / "page.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"Words.\n\n```python\n{text}\n```\n", encoding="utf-8")
        monkeypatch.setattr(api_examples, "DOCS", tmp_path)
        monkeypatch.setattr(api_examples, "ROOT", tmp_path)
        return {name: each.text for name, each in examples.__wrapped__().items()}

    return find


def test_an_example_stands_in_its_page_as_it_is_shown():
    assert examples()
    for name, example in examples().items():
        text = (DOCS / example.page).resolve().read_text(encoding="utf-8")
        assert example.text.splitlines()[0] in text, name


def test_what_one_uses_first_has_one():
    first = ["Crib", "Settings", "Caller", "Scope", "Crib.add", "Crib.search", "Crib.call"]
    first += [
        "Crib.session",
        "Crib.explain",
        "Crib.add_mcp",
        "Session.call",
        "Session.active_tools",
    ]
    assert [name for name in first if name not in examples()] == []
    assert [name for name in first if f"# {name}\n" not in API] == []


def test_it_is_never_one_from_the_page_itself():
    assert DOCS / "api.md" not in sources()


def test_the_shortest_is_taken_and_an_assertion_only_if_there_is_no_other(of_page):
    text = 'crib.search("a long request for something")\ncrib.search("x")\nassert crib.get("x")'
    assert of_page(text) == {"Crib.search": 'crib.search("x")', "Crib.get": 'assert crib.get("x")'}


def test_a_name_counts_where_it_is_imported_from_us(of_page):
    assert of_page("from toolcrib import Crib\nmade = Crib()") == {"Crib": "made = Crib()"}
    assert of_page("from elsewhere import Crib\nmade = Crib()") == {}


def test_it_stands_at_the_edge_and_is_short(of_page):
    assert of_page("if True:\n    crib.search(\n        'x',\n    )") == {
        "Crib.search": "crib.search(\n    'x',\n)"
    }
    assert of_page("crib.search(\n" + "    'x',\n" * 9 + ")") == {}
