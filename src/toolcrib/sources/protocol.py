"""What every source promises, and what some promise besides."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, runtime_checkable

from toolcrib.model import Call, CallContext, Capability, JsonObject, Outcome, SourceKind, State


class Source(Protocol):
    """A place that capabilities come from: it lists them, says their state, and calls one.

    `kind` and `id` are the first two parts of every name from here, and never change over the life
    of the source. `id` is None where names stay bare.
    """

    @property
    def kind(self) -> SourceKind: ...

    @property
    def id(self) -> str | None: ...

    @property
    def problems(self) -> tuple[str, ...]:
        """What the last listing could not read, one message each; the rest is listed."""
        ...

    def capabilities(self) -> Sequence[Capability]:
        """All that there is now, by the source's own names, each name once, in a stable order.

        Raises `SourceError` or `DeclarationError` when the list cannot be had: a broken source
        never looks like an empty one.
        """
        ...

    def state(self, name: str) -> State:
        """The state of the capability with this own name: what has to happen before a call.

        Raises `UnknownTool` for a name that is not listed.
        """
        ...

    async def call(self, call: Call, context: CallContext) -> Outcome:
        """Run the tool of the source's own name `call.name`, and be done by the deadline.

        A source that pins its tools does not run one that has another pin than `call.pin`.

        Raises `UnknownTool`, and `BadArguments` where the source can tell, before anything runs;
        whatever goes wrong after that is an `Outcome` with an error, not an exception. Cancelling
        it cancels the tool.

        A source whose calls end at once when they are cancelled may say so by an attribute
        `ends_when_cancelled`: then no task is made for each, to be left behind at the deadline.
        One that has read all that it returns from JSON may say so by `returns_json`: then nobody
        looks whether it is.
        """
        ...


@runtime_checkable
class SleepingSource(Protocol):
    """A source behind which something may have to be started before a call."""

    def warm_up(self) -> None:
        """Start it in the background, for a call that may come. Returns at once, never raises."""
        ...


@runtime_checkable
class WatchableSource(Protocol):
    """A source whose list or states change by themselves."""

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this from now on, from any thread, whenever they may have changed."""
        ...


@runtime_checkable
class StampedSource(Protocol):
    """A source whose list need not be made again while its stamp stays the same.

    Whoever has kept the list, the summary and the stamp of an earlier look hands the summary back
    with `adopt` and goes on with the list that it kept.
    """

    def stamp(self) -> str:
        """The same as long as `capabilities` would list the same, in whatever process.

        Empty if that cannot be told. Cheap: nothing is parsed, nothing is started.
        """
        ...

    def summary(self) -> JsonObject:
        """What else is known of it once it is listed: its problems, and how many tools wait.

        Keeps what `adopt` needs; its content is the source's own.
        """
        ...

    def adopt(self, summary: JsonObject) -> None:
        """Go on with the summary of a list that was made under the stamp that it gave last.

        Nothing is read until somebody asks for more than it says. The list counts as made.
        """
        ...

    def state_of_all(self) -> State:
        """The state of each of its tools that is not held for review; see `Source.state`.

        Cheap, whether the list was made or adopted.
        """
        ...


@runtime_checkable
class IncrementalSource(Protocol):
    """A source that knows what it lists otherwise than before, so that nobody asks for the rest."""

    def revision(self) -> str:
        """Another one whenever it lists something otherwise; empty if that cannot be told.

        Of a source that has stamps, it is the stamp.
        """
        ...

    def changed_since(self, revision: str) -> Collection[str] | None:
        """The own names of what it lists otherwise than at an earlier revision, or no longer.

        There may be more of them than needed. None if that cannot be told.
        """
        ...

    def capability(self, name: str) -> Capability | None:
        """What it lists under this own name, as `capabilities` does; None if nothing."""
        ...
