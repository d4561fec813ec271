"""A source that counts what reaches it, and a door before it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tests.defaults import POLICY
from toolcrib.errors import UnknownTool
from toolcrib.execute import Caller, CallPolicy, Door
from toolcrib.model import (
    Call,
    CallContext,
    JsonObject,
    Outcome,
    PermissionKind,
    SourceKind,
    State,
    ToolInfo,
)
from toolcrib.pool import Pool

ANN = Caller("ann")
ANYTHING: JsonObject = {"type": "object"}


def offered(
    name: str = "look", kind: PermissionKind = "read", schema: JsonObject = ANYTHING
) -> ToolInfo:
    return ToolInfo(
        name=name,
        description=f"To {name}",
        permission_kind=kind,
        parameters=schema,
        source="mcp",
        source_id="shop",
    )


class CountingSource:
    """Keeps every call that reaches it, and answers as it is told."""

    kind: SourceKind = "mcp"
    id: str | None = "shop"
    problems: tuple[str, ...] = ()

    def __init__(self, *tools: ToolInfo) -> None:
        self.tools = {tool.name: tool for tool in tools}
        self.states: dict[str, State] = {}
        self.reached: list[Call] = []
        self.answer: Callable[[Call], Outcome] = lambda _call: Outcome("done")
        self.watch: Callable[[CallContext], None] = lambda _running: None

    def capabilities(self) -> Sequence[ToolInfo]:
        return tuple(self.tools.values())

    def state(self, name: str) -> State:
        if name not in self.tools:
            raise UnknownTool(f"no {name!r}")
        return self.states.get(name, "ready")

    async def call(self, call: Call, context: CallContext) -> Outcome:
        self.reached.append(call)
        self.watch(context)
        return self.answer(call)


class Shop:
    """A counting source in a pool behind a door."""

    def __init__(self, *tools: ToolInfo, policy: CallPolicy = POLICY) -> None:
        self.source = CountingSource(*(tools or [offered()]))
        self.pool = Pool()
        self.pool.add(self.source)
        self.door = Door(self.pool, policy)

    @property
    def reached(self) -> Sequence[Call]:
        return self.source.reached

    def change(self, name: str, **fields: object) -> None:
        """Let a tool be defined otherwise from now on."""
        self.source.tools[name] = replace(self.source.tools[name], **fields)
        self.pool.refresh(self.source)

    def put_in_state(self, state: State, names: Iterable[str]) -> None:
        self.source.states |= dict.fromkeys(names, state)
        self.pool.refresh(self.source)
