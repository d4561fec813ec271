"""The comparison of servers sees what is different, and nothing else."""

from typing import Any

import pytest

from benchmarks.real_servers import Ask
from benchmarks.sameness import PAGED, REFUSED, of_answers, of_lists

TOOL: dict[str, Any] = {"description": "Echo", "inputSchema": {"type": "object"}}
SAID: dict[str, Any] = {"content": [{"type": "text", "text": "hello 1"}], "isError": False}


def lists(direct: dict[str, Any], through: dict[str, Any]) -> list[str]:
    return [*of_lists(direct, through)]


def answers(direct: dict[str, Any], through: dict[str, Any], varying: str = "") -> list[str]:
    return [*of_answers([Ask("echo", varying=varying)], [direct], [through])]


@pytest.mark.parametrize(
    "through",
    [
        {},
        {"echo": TOOL, "another": TOOL},
        {"echo": TOOL | {"description": "Echoes"}},
        {"echo": TOOL | {"inputSchema": {}}},
        {"echo": TOOL | {"outputSchema": {}}},
        {"echo": TOOL | {"annotations": {"readOnlyHint": True}}},
        {"echo": TOOL | {"_meta": {"vendor": 1}}},
        {"echo": TOOL | {"title": "Echo"}},
    ],
)
def test_another_list_is_seen(through: dict[str, Any]):
    assert len(lists({"echo": TOOL}, through)) == 1


def test_what_the_gateway_adds_for_hosts_is_no_difference():
    added = {"annotations": {"readOnlyHint": False}, "_meta": {"anthropic/searchHint": "echo"}}
    assert lists({"echo": TOOL}, {"echo": TOOL | added}) == []


def test_a_title_is_the_same_wherever_it_stands():
    annotations = {"annotations": {"title": "Echo"}}
    assert (
        lists({"echo": TOOL | annotations}, {"echo": TOOL | annotations | {"title": "Echo"}}) == []
    )


@pytest.mark.parametrize(
    "through",
    [
        SAID | {"content": []},
        SAID | {"isError": True},
        SAID | {"structuredContent": {}},
        SAID | {"_meta": {"vendor": 1}},
        {REFUSED: "hello 1"},
        {PAGED: "hello"},
    ],
)
def test_another_answer_is_seen(through: dict[str, Any]):
    assert len(answers(SAID, through)) == 1


def test_what_varies_is_no_difference():
    other = {"content": [{"type": "text", "text": "hello 2"}], "isError": False}
    assert len(answers(SAID, other)) == 1
    assert answers(SAID, other, r"\d") == []


def test_pages_are_the_same_if_their_text_is():
    assert answers(SAID, {PAGED: "hello 1"}) == []


def test_an_error_of_the_protocol_is_the_same_in_the_same_words():
    told = {"content": [{"type": "text", "text": "server_error: no cluster here"}], "isError": True}
    assert answers({REFUSED: "no cluster\nhere"}, told) == []
    assert len(answers({REFUSED: "no cluster there"}, told)) == 1
