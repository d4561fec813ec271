"""Definitions of strangers, from the pool to the door."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.defaults import POLICY
from tests.execute.counting import ANN, CountingSource
from tests.plan import amount
from toolcrib.execute import Door
from toolcrib.model import Call, Outcome, ToolInfo
from toolcrib.names.origin import LONGEST_NAME
from toolcrib.pool import Pool

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.text(st.characters(), max_size=90) | st.sampled_from(["a", "A", "a b", "a_b", "ａ", ""])
TOOLS = st.builds(
    ToolInfo,
    name=NAMES,
    description=st.text(),
    parameters=st.dictionaries(st.text() | st.sampled_from(["$ref", "type"]), JSON, max_size=4),
    annotations=st.dictionaries(st.text(), JSON, max_size=2),
    source=st.just("mcp"),
    source_id=st.text(max_size=9),
    permission_kind=st.sampled_from(["read", "write", "dangerous"]),
)


@pytest.mark.plan(30)
@settings(max_examples=amount(30, "lists"))
@given(st.lists(TOOLS, max_size=6, unique_by=lambda tool: tool.name), JSON)
def test_whatever_is_listed_has_a_name_of_its_own_and_every_call_an_outcome(tools, value):
    pool = Pool()
    assert pool.add(CountingSource(*tools)) == ()
    assert all(name.isascii() and 0 < len(name) <= LONGEST_NAME for name in pool.entries)
    origins = {(tool.source_id, tool.name) for tool in tools}
    assert len(pool.entries) == len(origins)
    door = Door(pool, POLICY)
    for name in [*pool.entries, *(tool.name for tool in tools)]:
        outcome = asyncio.run(door.execute(Call(name, {"value": value}), ANN))
        assert isinstance(outcome, Outcome)
        assert outcome.ok or outcome.error
