from tests.workshop import SEEN, many, pooled
from toolcrib.gateway.instructions import instructions
from toolcrib.text import token_counter


def test_they_keep_to_what_hosts_take_however_much_there_is():
    entries = tuple(pooled(*SEEN, *many(3_000)).values())
    told = instructions("search", entries)
    assert "server7 (75)" in told
    assert len(told) < 2_048
    assert token_counter().count(told) < 500


def test_they_teach_the_flow_that_the_mode_has():
    entries = tuple(pooled(*SEEN).values())
    assert "`tool_search`" in instructions("search", entries)
    assert "listed by its own name" in instructions("reveal", entries)
    assert "tool_search" not in instructions("passthrough", entries)
    assert instructions("search", ()).endswith("remedy.")
