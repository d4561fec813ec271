from collections.abc import Mapping

from tests.workshop import SEEN, many, pooled
from toolcrib.gateway.instructions import instructions
from toolcrib.gateway.modes import EffectiveMode
from toolcrib.model import Entry, EntryGroups
from toolcrib.text import token_counter


def told(mode: EffectiveMode, entries: Mapping[str, Entry]) -> str:
    return instructions(mode, EntryGroups.of(entries), entries)


def test_they_keep_to_what_hosts_take_however_much_there_is():
    text = told("search", pooled(*SEEN, *many(3_000)))
    assert "server7 (75)" in text
    assert len(text) < 2_048
    assert token_counter().count(text) < 500


def test_they_teach_the_flow_that_the_mode_has():
    entries = pooled(*SEEN)
    assert "`tool_search`" in told("search", entries)
    assert "listed by its own name" in told("reveal", entries)
    assert "tool_search" not in told("passthrough", entries)
    assert "`tool_run`" in told("code", entries)
    assert "tool_call" not in told("code", entries)
    assert told("search", {}).endswith("remedy.")
