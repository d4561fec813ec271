"""One question for several calls: what it covers."""

from dataclasses import replace

import pytest

from toolcrib.execute import ApprovalRequest, Cover, CoveredTool

SELL = ApprovalRequest("ann", "sell", "Sell it.", "write", {"what": "a"}, "pin")
ALL = ApprovalRequest("ann", "tool_run", "Run a program.", "write", {}, "program:1")


def cover() -> Cover:
    return Cover(ALL, (CoveredTool("sell", "pin", "write", 2),))


def test_it_covers_so_many_calls_whatever_their_arguments():
    made = cover()
    assert made.covers(SELL)
    made.use(SELL)
    assert made.covers(replace(SELL, arguments={"what": "b"}))
    made.use(SELL)
    assert not made.covers(SELL)


@pytest.mark.parametrize("other", [{"pin": "changed"}, {"name": "drop"}, {"caller": "bob"}])
def test_it_covers_nothing_else(other: dict[str, str]):
    assert not cover().covers(replace(SELL, **other))


def test_it_is_kept_with_what_is_used_up():
    made = cover()
    made.use(SELL)
    made.answer, made.ticket = True, "t"
    again = Cover.of_fields(made.fields())
    assert (again.request, again.tools, again.answer, again.ticket) == (
        ALL,
        made.tools,
        True,
        "t",
    )
    again.use(SELL)
    assert not again.covers(SELL)
