"""What the commands that look at the pool, call a tool or run a program ask of a running daemon.

A daemon answers a command only as far as it would answer the same without it. It declines, and the
command does the work itself, if the files of the settings are broken or have changed in a way that
takes a reload, if a variable that counts is set for one of the two and not for the other, or if the
tool, or one that the program may call, is a function: it acts in the folder and the environment of
whoever calls it. What the dashboard asks (`WATCHED`) is what the daemon itself would say, and is
never declined.

    command                          daemon
       │ {"do": "call", ...}            │
       │ ─────────────────────────────> │ declines, or:
       │ <──────────── {"told": ready}  │
       │ {"go": true} ────────────────> │ from here on the tool may have been reached
       │ <─────── {"told": {"approve"}} │ {"approved": true} comes back
       │ <──────────── {"done": ...}    │

A command that leaves before it has said go leaves nothing behind; one that leaves later cancels.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from toolcrib.crib import HOST, Crib, inventory_of, tools_of_program
from toolcrib.errors import ToolcribError
from toolcrib.execute import ApprovalRequest, Approver
from toolcrib.gateway.command_queries import (
    OUTSIDE,
    QUERIES,
    WATCHED,
    answer_query,
    program_reply,
)
from toolcrib.gateway.operator_client import ALIVE_S, DECLINED, Environment
from toolcrib.gateway.quotas import Overloaded, Quota, RequestLimiter
from toolcrib.gateway.serving_state import ServingState
from toolcrib.model import Json, JsonObject
from toolcrib.settings import Settings
from toolcrib.sources.mcp import missing_variables

GO_S = 30.0
"""How long a command may take to say go."""
OPERATOR = "operator"


class Asker(Protocol):
    """The command that asks."""

    def report(self, progress: Json) -> None: ...
    async def receive(self) -> Json: ...


class CommandedDaemon(Protocol):
    """What these commands reach of a daemon. `read_ns`: when its sources were read."""

    @property
    def serving(self) -> ServingState: ...
    @property
    def read_ns(self) -> int: ...
    @property
    def request_limiter(self) -> RequestLimiter: ...

    async def is_current(self) -> bool: ...


CommandHandler = Callable[[Mapping[str, Any], Asker], Awaitable[Json]]


def command_handlers(daemon: CommandedDaemon) -> Mapping[str, CommandHandler]:
    """Each by its name."""

    def query(what: str) -> CommandHandler:
        async def answer(request: Mapping[str, Any], asker: Asker) -> Json:
            if what in QUERIES and not await says_the_same(daemon, request):
                return DECLINED
            return await _while_alive(_answered(daemon.serving.crib, what, request, asker), asker)

        return answer

    def acting(act: _Act) -> CommandHandler:
        async def answer(request: Mapping[str, Any], asker: Asker) -> Json:
            crib = daemon.serving.crib
            is_ours = await says_the_same(daemon, request) and await asyncio.to_thread(
                act.runs_outside, crib, request
            )
            if not is_ours:
                return DECLINED
            with suppress(Overloaded), _counted(daemon.request_limiter):
                asker.report({"ready": about(crib)})
                if await _may_go(asker):
                    return await _while_alive(_made(crib, act, request, asker), asker)
            return DECLINED

        return answer

    return {
        **{what: acting(act) for what, act in _ACTS.items()},
        **{what: query(what) for what in (*QUERIES, *WATCHED)},
    }


async def _may_go(asker: Asker) -> bool:
    """Whether the command says go, in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(GO_S):
            return await asker.receive() == {"go": True}
    return False


@contextmanager
def _counted(limiter: RequestLimiter) -> Generator[None]:
    """A request under way: a daemon that has one does not end for want of clients.

    Raises `Overloaded`, before anything is done, if there are too many.
    """
    quotas = (Quota(OPERATOR),)
    limiter.enter(quotas)
    try:
        yield
    finally:
        limiter.leave(quotas)


async def says_the_same(daemon: CommandedDaemon, request: Mapping[str, Any]) -> bool:
    """Whether a crib that the command opened now would be the one that is served."""
    theirs, ours = Environment.of_json(request.get("environment")), Environment.of_process()
    if theirs.values != ours.values or not await daemon.is_current():
        return False
    crib = daemon.serving.crib
    if _missing(crib, theirs) != _missing(crib, ours):
        return False
    return not await asyncio.to_thread(has_changed_since, crib.settings, daemon.read_ns)


def _missing(crib: Crib, environment: Environment) -> list[tuple[str, ...]]:
    """What the servers lack in this environment."""
    variables = dict.fromkeys(environment.names, "set")
    servers = inventory_of(crib).servers.values()
    return [missing_variables(server.config, variables) for server in servers]


def has_changed_since(settings: Settings, moment_ns: int) -> bool:
    """Whether a file that is read once, when a crib is opened, is newer than that."""
    for path in _read_once(settings):
        with suppress(OSError):
            if path.stat().st_ctime_ns > moment_ns:
                return True
    return False


def _read_once(settings: Settings) -> Iterator[Path]:
    """Declarations, glossaries, skills, agents and modules, with all folders that they are in."""
    yield from (*settings.tools, *settings.search.glossaries)
    for named in (*settings.skills, *settings.agents):
        yield named
        yield from (Path(folder, name) for folder, _, names in os.walk(named) for name in names)
        yield from (Path(folder) for folder, _, _ in os.walk(named))
    for module in settings.tool_modules:
        loaded = sys.modules.get(module)
        yield Path(getattr(loaded, "__file__", None) or module)


def about(crib: Crib) -> JsonObject:
    """What a command warns of once, and where it remembers that it has."""
    return {"problems": list(crib.problems), "state_folder": str(crib.settings.state_folder)}


async def _answered(crib: Crib, what: str, request: Mapping[str, Any], asker: Asker) -> JsonObject:
    loop = asyncio.get_running_loop()

    def on_wait() -> None:
        loop.call_soon_threadsafe(asker.report, {"waiting": True})

    try:
        reply = await asyncio.to_thread(answer_query, crib, what, request, on_wait)
    except ToolcribError as error:
        return {**about(crib), "error": str(error), "error_kind": type(error).__name__}
    return {**about(crib), "reply": reply}


class _Act(NamedTuple):
    """What a daemon does for a command.

    `runs_outside`: whether all that it may reach has a process of its own, or is nothing at all.
    """

    runs_outside: Callable[[Crib, Mapping[str, Any]], bool]
    make: Callable[[Crib, Mapping[str, Any], Approver | None], Awaitable[JsonObject]]


def _calls_outside(crib: Crib, request: Mapping[str, Any]) -> bool:
    return _is_outside(crib, str(request["name"]))


async def _call(crib: Crib, request: Mapping[str, Any], approver: Approver | None) -> JsonObject:
    outcome = await crib.call(
        request["name"], request["arguments"], timeout_s=request["timeout_s"], approver=approver
    )
    return asdict(outcome)


def _program_calls_outside(crib: Crib, request: Mapping[str, Any]) -> bool:
    try:
        names = tools_of_program(crib, str(request["program"]), str(request["handle"]), HOST)
    except ToolcribError:  # the command says what is wrong
        return False
    return all(_is_outside(crib, name) for name in names)


async def _run(crib: Crib, request: Mapping[str, Any], approver: Approver | None) -> JsonObject:
    if handle := str(request["handle"]):
        return program_reply(await crib.resume(handle, approver=approver))
    return program_reply(await crib.run(str(request["program"]), approver=approver))


_ACTS: Mapping[str, _Act] = {
    "call": _Act(_calls_outside, _call),
    "run": _Act(_program_calls_outside, _run),
}


def _is_outside(crib: Crib, name: str) -> bool:
    found = inventory_of(crib).current().candidates(name)
    return all(entry.source in OUTSIDE for entry in found)


async def _while_alive(work: Awaitable[JsonObject], asker: Asker) -> JsonObject:
    """Do it, and let the asker know every so often that somebody is at it."""
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=ALIVE_S))[0]:
            asker.report({})
    finally:
        task.cancel()
    return task.result()


async def _made(crib: Crib, act: _Act, request: Mapping[str, Any], asker: Asker) -> JsonObject:
    """What came of it. Nobody is left to hear of it once the asker has gone: it is cancelled."""
    answers = asyncio.Queue[bool]()

    async def approve(asked: ApprovalRequest, /) -> bool:
        asker.report({"approve": asdict(asked)})
        return await answers.get()

    async def listen() -> None:
        while isinstance(said := await asker.receive(), dict):
            answers.put_nowait(said.get("approved") is True)
        calling.cancel()

    made = act.make(crib, request, approve if request["asks"] else None)
    calling: asyncio.Future[JsonObject] = asyncio.ensure_future(made)
    listening = asyncio.create_task(listen())
    try:
        await asyncio.wait({calling})
        return {} if calling.cancelled() else {"outcome": calling.result()}
    except ToolcribError as error:
        return {"error": str(error), "error_kind": type(error).__name__}
    finally:
        listening.cancel()
        calling.cancel()
