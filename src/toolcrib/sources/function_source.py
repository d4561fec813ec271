"""Python functions of this process, as a source."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple, Unpack

from toolcrib.errors import BadArguments, DeclarationError, NameTaken, UnknownTool
from toolcrib.model import (
    Call,
    CallContext,
    NamedBy,
    Outcome,
    SourceKind,
    State,
    ToolInfo,
)
from toolcrib.names import RESERVED_NAMES, reserved_message
from toolcrib.sources.function import (
    Function,
    RunnableTool,
    ToolFacts,
    function_from,
    module_of,
    with_facts,
)
from toolcrib.text import nearest_names

MOST_CHANGES = 4_096
NOT_ADDED = (
    "no function of this name was added; add it (`crib.add`, or `--tools MODULE`), "
    "or name it with 'function'"
)


_OF_ONE_FUNCTION = frozenset({"name", "title", "description", "display", "desc"})
"""What several functions cannot have in common."""


class Description(NamedTuple):
    """Facts about a function from a file. `where` is file, line and name, as a message begins."""

    where: str
    facts: ToolFacts


class ChangedNames:
    """Names in the order in which something changed about them; the oldest are forgotten."""

    def __init__(self, most: int = MOST_CHANGES) -> None:
        self._names = deque[str](maxlen=most)
        self.count = 0

    def append(self, name: str) -> None:
        """Something changed about this one."""
        self._names.append(name)
        self.count += 1

    def since(self, count: int) -> Collection[str] | None:
        """What was appended after so many; None if some of it is forgotten."""
        new = self.count - count
        return None if new > len(self._names) else set(islice(reversed(self._names), new))


class FunctionSource:
    """Holds functions, by name, in the order in which they were added.

    `named_by` is "program" for functions that the program itself adds; see `Capability`.
    `exchanges`: a function that is defined anew, as when a cell of a notebook is run again, takes
    the place of its former self.
    `links` has each declared link, from a tool to a name, and where it was declared. `mistakes` are
    the problems of declarations that were left out.
    """

    kind: SourceKind = "builtin"

    def __init__(
        self, id: str | None = None, *, named_by: NamedBy = "", exchanges: bool = False
    ) -> None:
        self.id = id
        self._exchanges = exchanges
        self._named_by: NamedBy = named_by
        self.links: dict[tuple[str, str], str] = {}
        self.mistakes: list[str] = []
        self._functions: dict[str, RunnableTool] = {}
        self._changed = ChangedNames()
        self._described: dict[str, Description] = {}

    @property
    def problems(self) -> tuple[str, ...]:
        """The mistakes, and each description whose function was not added by now."""
        missing = (it for name, it in self._described.items() if name not in self._functions)
        return (*self.mistakes, *(f"{it.where} {NOT_ADDED}" for it in missing))

    def describes(self, name: str) -> bool:
        """Whether a file describes a function of this name, added or not."""
        return name in self._described

    def add(self, fn: Callable[..., object], **facts: Unpack[ToolFacts]) -> ToolInfo:
        """Add one function. Raises `NameTaken`, and `DeclarationError` as `function_from` does."""
        return self.put(function_from(fn, **facts))

    def add_several(
        self, fns: Iterable[Callable[..., object]], facts: ToolFacts
    ) -> tuple[ToolInfo, ...]:
        """Add all of these functions with the same facts, or none of them; raises as `add`."""
        if own := sorted(_OF_ONE_FUNCTION & facts.keys()):
            message = f"{own[0]}= is about one function; add that one by itself"
            raise DeclarationError(message)
        return self.put_all([function_from(fn, **facts) for fn in fns])

    def put_all(self, functions: Sequence[Function]) -> tuple[ToolInfo, ...]:
        """Add all of these, or none of them; raises as `put`."""
        before = dict(self._functions)
        try:
            return tuple([self.put(function) for function in functions])
        except NameTaken:
            self._functions = before
            for function in functions:
                self._changed.append(function.info.name)
            raise

    def put(self, function: Function) -> ToolInfo:
        """Add one function that was read before. Raises `NameTaken`, for a name of ours too."""
        name = function.info.name
        if name in RESERVED_NAMES:
            raise NameTaken(reserved_message(name))
        former = self._functions.get(name)
        if former and not (self._exchanges and _is_same(former.run, function.run)):
            raise NameTaken(f"there is a tool {name!r} here; add this one with another name=")
        return self._put(function)

    def replace(self, fn: Callable[..., object], **facts: Unpack[ToolFacts]) -> ToolInfo:
        """Put a function in the place of the one that has its name.

        Raises `UnknownTool` if there is none, and `DeclarationError` as `function_from` does.
        """
        function = function_from(fn, **facts)
        self._function(function.info.name)
        return self._put(function)

    def _put(self, function: Function) -> ToolInfo:
        name = function.info.name
        info = replace(
            function.info,
            source_id=self.id,
            named_by=self._named_by,
            module=self._module(function),
        )
        self._functions[name] = replace(function, info=info)
        return self._apply_description(name)

    def describe(self, name: str, description: Description) -> ToolInfo | None:
        """Put these facts in place of those of the function of this name; its name stays.

        One that is not here yet gets them as it is added: until then the result is None. Raises
        `NameTaken` for a second description.
        """
        if name in self._described:
            first = self._described[name].where
            raise NameTaken(f"it is described already, at {first} keep one of the two")
        self._described[name] = description
        return self._apply_description(name) if name in self._functions else None

    def names_of(self, what: object) -> list[str]:
        """The names of the tools that this names, or of the function that it is."""
        return [name for name, each in self._functions.items() if what in (name, each.run)]

    def remove(self, name: str) -> None:
        """Take one tool away. Raises `UnknownTool`."""
        del self._functions[self._function(name).info.name]
        self._changed.append(name)

    def capabilities(self) -> Sequence[ToolInfo]:
        """All tools, in the order in which they were added."""
        return tuple(function.info for function in self._functions.values())

    def revision(self) -> str:
        """How many times something was added, described or removed."""
        return str(self._changed.count)

    def changed_since(self, revision: str) -> Collection[str] | None:
        """The names of all that was added, described or removed since then."""
        return self._changed.since(int(revision))

    def capability(self, name: str) -> ToolInfo | None:
        """The tool of this name; None if there is none."""
        function = self._functions.get(name)
        return function.info if function else None

    def state(self, name: str) -> State:
        """A function in this process is always ready. Raises `UnknownTool`."""
        self._function(name)
        return "ready"

    async def call(self, call: Call, context: CallContext) -> Outcome:
        """Run one function: on the loop if it is async, else in a thread, so that it may wait.

        A thread cannot be stopped. At the deadline, and on cancelling, the waiting ends.
        """
        function = self._function(call.name)
        try:
            bound = function.signature.bind(call.arguments)
        except BadArguments as error:
            raise BadArguments(f"{call.name}: {error}") from None
        from toolcrib.sources.function_call import (  # noqa: PLC0415 - with asyncio
            injected_values,
            run_function,
        )

        injected = injected_values(call.name, function.signature.injected)
        run = partial(function.run, *bound.by_position, **bound.by_name, **injected)
        return await run_function(run, context)

    def _module(self, function: Function) -> str:
        """The label of a tool: its module, or nothing where the source has an id."""
        return "" if self.id else module_of(function.run)

    def _apply_description(self, name: str) -> ToolInfo:
        """The tool with its description from a file, if there is one."""
        self._changed.append(name)
        function = self._functions[name]
        if name in self._described:
            info = with_facts(function.info, **self._described[name].facts)
            info = replace(info, name=name)
            self._functions[name] = Function(function.run, info, function.signature)
        return self._functions[name].info

    def _function(self, name: str) -> RunnableTool:
        if name not in self._functions:
            near = nearest_names(name, list(self._functions))
            nearby = f" Nearest: {', '.join(near)}." if near else ""
            raise UnknownTool(f"no tool {name!r} here; search for it first.{nearby}")
        return self._functions[name]


def _is_same(former: Callable[..., object], now: Callable[..., object]) -> bool:
    """Whether both are the same function of a module, or method of an object.

    A function within another is never: each call of the outer one makes one of the same name.
    """
    one, other = (
        (getattr(fn, "__module__", None), getattr(fn, "__qualname__", "<>")) for fn in (former, now)
    )
    owners = getattr(former, "__self__", None), getattr(now, "__self__", None)
    return one == other and "<" not in one[1] and owners[0] is owners[1]
