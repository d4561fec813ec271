"""One app as a source: listed by what it registered last, running or not."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from toolcrib.errors import DeclarationError, SourceError, UnknownTool
from toolcrib.model import (
    Call,
    CallContext,
    CallError,
    JsonObject,
    Outcome,
    ProgressHandler,
    SourceKind,
    State,
    ToolInfo,
)
from toolcrib.sources.apps.cache import KnownApp, SDKToolsCache
from toolcrib.sources.apps.call import call_app
from toolcrib.sources.apps.definition import MOST_TOOLS, tool_from_json
from toolcrib.sources.apps.launch import AppLauncher, AppRules
from toolcrib.sources.apps.peer import Peer
from toolcrib.sources.definition import Definition, clean_tool
from toolcrib.strict_json import json_digest
from toolcrib.system import BackgroundLoop, run_in_thread
from toolcrib.text import list_nearest

REGISTER_S = 5.0


FORMAT = 1
"""Of the tools that a record becomes: another one whenever the same record becomes others."""


class AppTools(NamedTuple):
    """The tools of a record, what is wrong with the others by name, and the raw ones that count."""

    record: KnownApp
    tools: Mapping[str, ToolInfo]
    refused: Mapping[str, str]
    good: tuple[JsonObject, ...]


class AppSource:
    """Lists and calls the tools of one app: what it registered last, whether or not it runs.

    Any thread may list and call; only the loop changes anything.
    """

    kind: SourceKind = "sdk"

    def __init__(
        self,
        record: KnownApp,
        cache: SDKToolsCache,
        loop: BackgroundLoop,
        address: Callable[[], Awaitable[Path]],
        rules: AppRules,
    ) -> None:
        self.id = record.name
        self.record = record
        self._configured = rules.launch.get(record.name)
        self._doubt = ""
        self._cache = cache
        self._loop = loop
        self._trusted = record.name in rules.trusted
        self._made: AppTools | None = None
        self._adopted: tuple[KnownApp, Mapping[str, str]] | None = None
        self._unwritten = ""
        self._stamped: tuple[KnownApp, str] = KnownApp(""), ""
        self._peer: Peer | None = None
        self._fresh = False
        self._parting: asyncio.Future[None] | None = None
        self._launcher = AppLauncher(record.name, rules.timeouts, address, self._rest)
        self._changed: Callable[[], None] = lambda: None

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with tools of the app, and with the launch command it proposed."""
        reasons = (*self._refused().values(), *filter(None, [self._unwritten]))
        bad = (f"app {self.id!r}: {reason}" for reason in reasons)
        return (*bad, *filter(None, [self._doubt]))

    def capabilities(self) -> Sequence[ToolInfo]:
        """What the app registered last, in that order."""
        return tuple(self._listed().tools.values())

    def stamp(self) -> str:
        """The same as long as it has the same tools: what it registered, how it is launched."""
        record, stamp = self._stamped
        if record is not self.record:
            record = self.record
            facts = (FORMAT, self.id, self._trusted, list(self.launch), list(record.tools))
            stamp = json_digest(facts)
            self._stamped = record, stamp
        return stamp

    def summary(self) -> JsonObject:
        """What is wrong with some of its tools, by name."""
        return {"refused": {**self._refused()}}

    def adopt(self, summary: JsonObject) -> None:
        """Go on with a summary of the same stamp. Its tools are made when somebody needs them."""
        match summary:
            case {"refused": {**refused}}:
                self._adopted = self.record, {name: str(why) for name, why in refused.items()}
            case _:
                return

    def state_of_all(self) -> State:
        """Ready while the app is connected, else asleep."""
        return "ready" if self._launcher.awake.is_set() else "asleep"

    def state(self, name: str) -> State:
        """The same. Raises `UnknownTool`."""
        self._tool(name)
        return self.state_of_all()

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this from now on, from any thread, whenever tools or states may have changed."""
        self._changed = changed

    async def call(self, call: Call, context: CallContext) -> Outcome:
        """Call a tool; an app that is not running is launched first, and has to register again."""
        tool = self._tool(call.name)
        relayed = replace(context, progress=_on_this_loop(context.progress))
        try:
            return await self._loop.run(self._serve(call, tool, relayed))
        except RuntimeError as error:
            failure = CallError("not_running", "start", str(error), server=self.id)
            return Outcome(error=failure)

    @property
    def connected(self) -> bool:
        """Whether an app of this name is here."""
        return self._peer is not None

    @property
    def launch(self) -> tuple[str, ...]:
        """The only command that this app is launched by; empty if there is none."""
        return self.record.launch if self._configured is None else tuple(self._configured)

    def connect(self, peer: Peer, hello: KnownApp) -> None:
        """The app has connected. Until it registers, it has the tools of the last time.

        The launch command stays the first that the app ever proposed; another one is a problem.
        """
        self._peer, self._fresh = peer, True
        self.record = replace(self.record, version=hello.version)
        self._doubt = (
            launch_doubt(self.id, self.launch, hello.launch) if self._configured is None else ""
        )

    def disconnect(self, peer: Peer) -> None:
        """The app is gone; its tools stay. Does nothing for a connection that is not the app's."""
        if self._peer is peer:
            self._peer = None
            self._launcher.awake.clear()

    def register(self, tools: Sequence[JsonObject]) -> Mapping[str, str]:
        """Add tools, and return what is wrong with the others, by name.

        The first time after connecting they replace all earlier tools.
        """
        earlier = () if self._fresh else self._listed().good
        names = [tool.get("name") for tool in tools]
        self._replace((*(tool for tool in earlier if tool.get("name") not in names), *tools))
        self._fresh = False
        self._keep()
        failed = {"": self._unwritten} if self._unwritten else {}
        return {**self._refused(), **failed}

    def unregister(self, names: Sequence[str]) -> None:
        """Remove tools. A name that is not here is removed already."""
        self._replace([each for each in self._listed().good if each.get("name") not in names])
        self._keep()

    async def announce(self) -> None:
        """Call the watcher, and wait until it is done: in a thread, for it may block."""
        await run_in_thread(self._changed)

    async def stop(self) -> None:
        """End the app, if it was launched here."""
        await self._launcher.stop()

    async def _serve(self, call: Call, tool: ToolInfo, context: CallContext) -> Outcome:
        await self._registering(context.deadline.left_s)
        if not self._launcher.awake.is_set():
            failure = await self._launcher.wake(self.launch, context.deadline.left_s)
            if failure:
                return Outcome(error=failure)
        if self._tool(call.name) != tool:
            return Outcome(error=_changed_error(tool))
        if self._peer is None:
            return Outcome(error=CallError("not_running", "start", "the app has just gone"))
        try:
            return await call_app(self._peer, call, context)
        finally:
            self._launcher.used()

    async def _registering(self, most_s: float) -> None:
        """Wait a little for an app that is here and has yet to register: launch no second one."""
        if self._peer:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._launcher.awake.wait(), min(REGISTER_S, most_s))

    def _listed(self) -> AppTools:
        """Its tools, made once for each record. Any thread may call this."""
        record, made = self.record, self._made
        if made is None or made.record is not record:
            made = self._made = self._read(record)
        return made

    def _refused(self) -> Mapping[str, str]:
        """What is wrong with some tools, by name."""
        adopted = self._adopted
        return adopted[1] if adopted and adopted[0] is self.record else self._listed().refused

    def _replace(self, raw: Sequence[JsonObject]) -> None:
        """Have these tools from now on, without those that cannot be used."""
        made = self._read(replace(self.record, tools=tuple(raw)))
        self.record = replace(made.record, tools=made.good)
        self._made = made._replace(record=self.record)

    def _read(self, record: KnownApp) -> AppTools:
        """Make tools of what the app registers. One that is wrong hides no other."""
        tools: dict[str, ToolInfo] = {}
        refused: dict[str, str] = {}
        good: list[JsonObject] = []
        for each in record.tools:
            try:
                tool = self._one(each, tools)
            except DeclarationError as error:
                refused[str(each.get("name", ""))[:200]] = str(error)
            else:
                tools[tool.name] = tool
                good.append(each)
        return AppTools(record, tools, refused, tuple(good))

    def _one(self, raw: JsonObject, others: Mapping[str, ToolInfo]) -> ToolInfo:
        tool = self._pinned(raw, tool_from_json(raw, self.id, trusted=self._trusted))
        if tool.name in others:
            raise DeclarationError(f"there are two tools {tool.name!r}; rename one")
        if len(others) >= MOST_TOOLS:
            raise DeclarationError(f"tool {tool.name!r}: an app has at most {MOST_TOOLS} tools")
        return tool

    def _pinned(self, raw: JsonObject, tool: ToolInfo) -> ToolInfo:
        """The tool with a pin of all that the app says of it, and with nothing hidden in it."""
        definition = Definition(raw, config_hash=json_digest(self.launch))
        return clean_tool(tool, definition.pin, definition.flags)

    def _keep(self) -> None:
        """Write the record to the cache. A failure is a problem in the list, no more."""
        self._unwritten = ""
        try:
            self._cache.write(self.record)
        except SourceError as error:
            self._unwritten = str(error)
        self._launcher.awake.set()

    def _rest(self) -> bool:
        """Whether the app may be ended for idleness; from then on it counts as asleep."""
        peer = self._peer
        if peer and peer.busy:
            return False
        if peer:
            self.disconnect(peer)
            self._parting = asyncio.ensure_future(peer.close("idle"))
        return True

    def _tool(self, name: str) -> ToolInfo:
        tools = self._listed().tools
        if name not in tools:
            near = list_nearest(name, list(tools))
            raise UnknownTool(
                f"no tool {name!r} in app {self.id!r}; search for it. Nearest: {near}"
            )
        return tools[name]


def _on_this_loop(progress: ProgressHandler) -> ProgressHandler:
    """The same, called on the loop of this caller; not at all once that is closed."""
    loop = asyncio.get_running_loop()

    def tell(done: float, total: float | None, message: str) -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(progress, done, total, message)

    return tell


def _changed_error(tool: ToolInfo) -> CallError:
    message = f"the app was started, and its tool {tool.name!r} has changed; search for it again"
    return CallError("definition_changed", "state", message)


def launch_doubt(app: str, trusted: Sequence[str], proposed: Sequence[str]) -> str:
    """What is wrong with a launch command that an app proposes; empty if it is the trusted one.

    Trusted is the command in the settings, else the one the app proposed first. A later one is not
    used until the operator puts it into the settings.
    """
    if not proposed or list(proposed) == list(trusted):
        return ""
    return (
        f"app {app!r} wants to be launched by {list(proposed)!r:.500}, which is not what it said "
        f"at first; if that is right, run `toolcrib apps set-command {app} -- COMMAND`"
    )
