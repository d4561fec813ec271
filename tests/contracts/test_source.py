"""What every source promises: see `toolcrib.sources.protocol`."""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import get_args

import pytest

from tests.defaults import APP_RULES
from tests.sources.apps.joining import app_at, serving
from tests.sources.mcp.faking import FAKE, nothing_left, own_file, stores_in
from tests.waiting import let_pass_async, until
from tests.workshop import soon
from toolcrib.errors import BadArguments, DeclarationError, SourceError, UnknownTool
from toolcrib.model import Call, PermissionKind, SourceKind, State, ToolInfo
from toolcrib.sources import FunctionSource, Source
from toolcrib.sources.agents import AgentSource
from toolcrib.sources.apps import AppRegistry
from toolcrib.sources.builtin_tools import builtin_tools
from toolcrib.sources.mcp import McpServers, refresh_all
from toolcrib.sources.skills import SkillSource

HEAD = "---\nname: {name}\ndescription: About it\n---\nText\n"


async def hang() -> None:
    await asyncio.sleep(600)


def functions(_: Path) -> Source:
    source = FunctionSource("plugin")
    source.add(lambda text: text, name="echo")
    source.add(lambda: 1 / 0, name="fail")
    source.add(lambda: time.sleep(600), name="hang")
    source.add(hang, name="hang_on_loop")
    return source


def packaged(_: Path) -> Source:
    return builtin_tools()


def skills(folder: Path) -> Source:
    for name in ("b", "a"):
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_text(HEAD.format(name=name))
    return SkillSource(folder)


def agents(folder: Path) -> Source:
    (folder / "a.md").write_text(HEAD.format(name="a"))
    (folder / "agent.json").write_text(json.dumps({"name": "b", "description": "About it"}))
    return AgentSource(folder)


@contextmanager
def running_app(folder: Path) -> Generator[Source]:
    app = app_at(folder)
    app.tool(name="echo")(lambda text: text)
    app.tool(name="hang")(hang)
    apps = AppRegistry(folder, APP_RULES)
    apps.listen()
    with serving(app):
        until(lambda: apps.sources and apps.sources[0].capabilities())
        yield apps.sources[0]
    apps.close()


@contextmanager
def mcp_server(folder: Path) -> Generator[Source]:
    """A server that was started once and sleeps: its tools are those of the fake one."""
    config = own_file()
    fake = {"command": sys.executable, "args": ["-S", str(FAKE)]}
    config.write_text(json.dumps({"mcpServers": {"fake": fake}}))
    with nothing_left(), closing(McpServers.open([config], stores_in(folder / "state"))) as servers:
        [done] = refresh_all(servers.sources)
        assert not done.error
        yield servers.sources[0]


CHECKING = (functions, packaged, skills, agents, running_app)
EVERY = (*CHECKING, mcp_server)
FAILING = ((functions, "fail", "ZeroDivisionError"), (mcp_server, "error", "it failed"))
HANGING = (
    (functions, "hang"),
    (functions, "hang_on_loop"),
    (running_app, "hang"),
    (mcp_server, "sleep"),
)

Making = Callable[[Path], Source | AbstractContextManager[Source]]


def opened(make: Making, folder: Path) -> AbstractContextManager[Source]:
    made = make(folder)
    return made if isinstance(made, AbstractContextManager) else nullcontext(made)


@pytest.fixture(params=EVERY)
def source(request, tmp_path) -> Generator[Source]:
    with opened(request.param, tmp_path) as source:
        yield source


def test_kind_and_id_do_not_change(source):
    before = (source.kind, source.id)
    source.capabilities()
    assert (source.kind, source.id) == before
    assert source.kind in get_args(SourceKind)


def test_every_capability_says_where_it_is_from(source):
    found = source.capabilities()
    assert found
    assert {(one.source, one.source_id) for one in found} == {(source.kind, source.id)}
    assert {one.permission_kind for one in found} <= set(get_args(PermissionKind))


def test_each_name_is_there_once_in_a_stable_order(source):
    names = [one.name for one in source.capabilities()]
    assert len(set(names)) == len(names)
    assert [one.name for one in source.capabilities()] == names


def test_the_schemas_of_tools_are_json_objects(source):
    tools = [one for one in source.capabilities() if isinstance(one, ToolInfo)]
    assert all(json.loads(json.dumps(one.parameters))["type"] == "object" for one in tools)


def test_every_capability_has_a_state(source):
    states = {source.state(one.name) for one in source.capabilities()}
    assert states <= set(get_args(State))


def test_an_unknown_name_is_refused(source):
    with pytest.raises(UnknownTool, match="no_such_name"):
        asyncio.run(source.call(Call("no_such_name"), soon()))
    with pytest.raises(UnknownTool, match="no_such_name"):
        source.state("no_such_name")


@pytest.mark.parametrize("make", CHECKING)
def test_arguments_that_do_not_fit_are_refused_before_anything_runs(make: Making, tmp_path: Path):
    """By all but MCP servers: what they take they say by a schema, which the door checks."""
    with opened(make, tmp_path) as source:
        for one in source.capabilities():
            with pytest.raises(BadArguments if isinstance(one, ToolInfo) else UnknownTool):
                asyncio.run(source.call(Call(one.name, {"no_such_argument": 1}), soon()))


@pytest.mark.parametrize(("make", "name", "words"), FAILING)
def test_a_failure_of_the_tool_is_an_outcome(make: Making, name: str, words: str, tmp_path: Path):
    with opened(make, tmp_path) as source:
        outcome = asyncio.run(source.call(Call(name), soon()))
    assert outcome.error
    assert (outcome.error.phase, outcome.error.effect) == ("call", "failed")
    assert words in outcome.error.message


@pytest.mark.parametrize(("make", "name"), HANGING)
def test_a_call_is_done_by_its_deadline_and_then_nobody_knows_what_it_did(
    make: Making, name: str, tmp_path: Path
):
    with opened(make, tmp_path) as source:
        outcome = asyncio.run(source.call(Call(name), soon(0.3)))
    assert outcome.error
    assert (outcome.error.code, outcome.error.effect) == ("deadline", "unknown")


@pytest.mark.parametrize(("make", "name"), HANGING)
def test_cancelling_a_call_ends_it(make: Making, name: str, tmp_path: Path):
    async def cancelled(source: Source) -> bool:
        task = asyncio.ensure_future(source.call(Call(name), soon()))
        await let_pass_async(0.02)
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    with opened(make, tmp_path) as source:
        assert asyncio.run(cancelled(source))


@pytest.mark.parametrize("make", [SkillSource, AgentSource])
def test_a_broken_source_does_not_look_like_an_empty_one(make, tmp_path):
    assert make(tmp_path).capabilities() == ()
    with pytest.raises((SourceError, DeclarationError)):
        make(tmp_path / "gone").capabilities()
