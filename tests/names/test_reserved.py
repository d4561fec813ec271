"""No tool may have a name that Toolcrib itself shows to models."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tests.execute.counting import CountingSource, offered
from tests.workshop import many
from toolcrib import Crib
from toolcrib.adapters.anthropic.wire import _HOSTED
from toolcrib.adapters.wire.proxy import NAME as PROXY
from toolcrib.crib import inventory_of
from toolcrib.errors import NameTaken
from toolcrib.gateway import fixed_tool_definitions
from toolcrib.model import SourceKind
from toolcrib.names import RESERVED_NAMES
from toolcrib.session import SEARCH_TOOL_NAMES
from toolcrib.sources import FunctionSource, declare_tools

GATEWAY = (
    fixed_tool_definitions.SEARCH,
    fixed_tool_definitions.DESCRIBE,
    fixed_tool_definitions.CALL_READ,
    fixed_tool_definitions.CALL,
    fixed_tool_definitions.RESULT,
)

each_name = pytest.mark.parametrize("name", sorted(RESERVED_NAMES))


class Own(CountingSource):
    """A source of a plugin's own, whose tools keep their bare names."""

    kind: SourceKind = "builtin"
    id = "shop"


def test_all_names_of_ours_are_reserved_and_no_other():
    hosted = {str(each.get("name")) for each in _HOSTED.values()}
    assert {*SEARCH_TOOL_NAMES, PROXY, *GATEWAY, *hosted} == RESERVED_NAMES


@each_name
def test_a_function_is_refused(name: str):
    crib = Crib()
    with pytest.raises(NameTaken, match=f"{name!r} is the name of a tool of Toolcrib's own"):
        crib.add(lambda: "mine", name=name)
    assert not crib.entries()


def test_a_declared_function_is_refused_and_the_others_are_taken(tmp_path: Path):
    file = tmp_path / "tools.yaml"
    file.write_text(
        "call_tool: {function: 'posixpath:normpath'}\nsplit: {function: 'posixpath:split'}\n"
    )
    source = FunctionSource()
    assert [tool.name for tool in declare_tools(source, file)] == ["split"]
    [problem] = source.problems
    assert "tools.yaml:1" in problem
    assert "'call_tool' is the name of a tool of Toolcrib's own" in problem


@each_name
def test_a_tool_of_a_source_with_bare_names_is_left_out_aloud(name: str):
    crib, source = (
        Crib(),
        Own(*(replace(offered(each), source="builtin") for each in (name, "sell"))),
    )
    crib.add_source(source)
    assert [*crib.entries()] == ["sell"]
    [problem] = crib.problems
    assert problem.startswith(f"builtin:shop: {name!r} is the name of a tool of Toolcrib's own")
    del source.tools[name]
    inventory_of(crib).pool.refresh(source)
    assert not crib.problems


@each_name
def test_a_tool_of_a_server_has_its_prefix_and_can_be_reached(name: str):
    crib, source = Crib(), CountingSource(offered(name), *many(30))
    crib.add_source(source)
    full = f"mcp_shop_{name}"
    session = crib.session()
    session.search(f"select:{full}")
    assert asyncio.run(session.call(full)).ok
    assert [call.name for call in source.reached] == [name]
