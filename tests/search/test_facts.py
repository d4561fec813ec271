"""What search knows of all entries at once: kept as text, mended when entries change."""

import pytest

from tests.workshop import SEEN, mcp, pooled
from toolcrib.model import ToolInfo
from toolcrib.search import PoolFacts, StoredFacts, facts_of, facts_version
from toolcrib.search import facts as facts_module
from toolcrib.search.facts import SearchFacts
from toolcrib.text import products_digest

ENGLISH = ToolInfo(name="read", description="Read a file")
CHINESE = ToolInfo(name="du", description="读取一个文件")
BOTH = ToolInfo(name="both", description="Read a file", desc={"zh-CN": "读取一个文件"})
SOME = pooled(
    *SEEN, CHINESE, BOTH, mcp("slack-mcp", "post", "Posts to Jira"), mcp("basic-memory", "note")
)


def test_the_shares_are_of_all_entries():
    some = pooled(ENGLISH, CHINESE, BOTH, mcp("a", "b", "Write – with a dash"))
    assert PoolFacts.of(some).monolingual_share == {"en": 0.5, "zh": 0.25}


def test_what_is_described_in_both_is_alone_in_neither():
    assert PoolFacts.of(pooled(BOTH)).monolingual_share == {}


def test_nothing_speaks_nothing():
    assert PoolFacts.of({}).monolingual_share == {}


def test_a_language_that_is_gone_has_no_share():
    few = pooled(ENGLISH)
    assert PoolFacts.of(pooled(ENGLISH, CHINESE)).changed(few, ["du"]).monolingual_share == {
        "en": 1.0
    }


@pytest.mark.parametrize("name", SOME)
def test_facts_are_the_same_after_they_were_text(name: str):
    facts = facts_of(SOME[name])
    assert SearchFacts.read(facts.text) == facts
    assert "\n" not in facts.text


def test_stored_facts_are_as_those_that_are_made(monkeypatch: pytest.MonkeyPatch):
    texts = {name: facts_of(entry).text for name, entry in SOME.items()}
    names: dict[str, list[str]] = {}
    for name, text in texts.items():
        names.setdefault(text, []).append(name)
    made = PoolFacts.of(SOME)
    monkeypatch.setattr(facts_module, "facts_of", None)  # nothing is worked out again
    stored = PoolFacts.of({}, StoredFacts(names, texts.get))
    assert {facts: frozenset(some) for facts, some in stored.groups.items()} == made.groups
    assert stored.counts == made.counts
    assert all(stored.of_name(name) == made.of_name(name) for name in (*SOME, "nobody"))


def test_facts_of_many_changes_are_folded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(facts_module, "MOST_OVERLAID", 3)
    facts, now = PoolFacts.of(SOME), dict(SOME)
    for name in list(SOME)[:9]:
        del now[name]
        facts = facts.changed(now, [name])
        assert len(facts.overlay) <= 3
    whole = PoolFacts.of(now)
    left = {each: frozenset(names) for each, names in facts.groups.items() if names}
    assert left == whole.groups
    assert facts.counts == whole.counts._replace(languages=facts.counts.languages)
    assert [facts.of_name(name) for name in SOME] == [whole.of_name(name) for name in SOME]


def test_another_list_of_products_is_another_version():
    assert products_digest() in facts_version()
