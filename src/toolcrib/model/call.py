"""What a call takes and gives (`Call`, `Outcome`), and what it has while it runs (`CallContext`).

Frozen values, no I/O.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from toolcrib.api_arguments import check
from toolcrib.model.capability import Json, JsonObject
from toolcrib.model.deadline import Deadline

RootsOf = Literal["working_folder", "client", "none"]


Phase = Literal["resolve", "state", "rights", "approval", "arguments", "start", "call", "result"]


Effect = Literal["not_sent", "failed", "unknown"]


ProgressHandler: TypeAlias = Callable[[float, float | None, str], None]


InputMethod = Literal["elicitation/create", "sampling/createMessage", "roots/list"]


class InputRequest(NamedTuple):
    """One thing that a tool wants to know: a request of the MCP protocol and its parameters."""

    question: InputMethod
    params: JsonObject


InputHandler: TypeAlias = Callable[
    [Mapping[str, InputRequest]], Awaitable[Mapping[str, JsonObject]]
]
"""Replies to the requests of a tool, by the same keys. What nobody answers is left out."""
LogHandler: TypeAlias = Callable[[JsonObject], None]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to run and what to run it with.

    `name` is the name that the model saw; a source is given its own name for the tool. `text` is
    the arguments as JSON text, if a provider hands them over so; it replaces `arguments`. With
    `pin`, the call is made only if the definition is still the one with that pin.
    """

    name: str
    arguments: JsonObject = field(default_factory=dict[str, Json])
    text: str = ""
    pin: str = ""

    @classmethod
    def of(cls, name: str, arguments: JsonObject | str, pin: str = "") -> "Call":
        """A call with arguments as they come: an object, or JSON text."""
        check(name, str, "the name of a tool to call")
        if isinstance(arguments, str):
            return cls(name, text=arguments, pin=pin)
        return cls(name, arguments, pin=pin)


def _ignore_progress(_done: float, _all: float | None, _message: str) -> None:
    pass


async def _no_replies(_requests: Mapping[str, InputRequest]) -> Mapping[str, JsonObject]:
    return {}


def log_nowhere(_message: JsonObject) -> None:
    """The log of a call that nobody listens to."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a call has while it runs: one deadline for all who work on it, and who made it.

    `progress` is called with how far it is, `log` with what the tool logs (level, data, logger),
    and `ask` answers what the tool wants to know before it goes on. `caller` is the id of whoever
    made the call; calls with the same id may get each other's messages. `roots` says where our own
    file tools work, unless the settings name folders. `patient`: somebody follows the progress and
    has set no limit, so the deadline may be paused while a source gets ready. `trace` is the
    `traceparent` of the span that the call is, and `trace_state` goes along; "" if there is none.
    """

    deadline: Deadline
    progress: ProgressHandler = _ignore_progress
    ask: InputHandler = _no_replies
    log: LogHandler = log_nowhere
    caller: str = ""
    roots: RootsOf = "none"
    patient: bool = False
    trace: str = ""
    trace_state: str = ""

    @classmethod
    def of(  # noqa: PLR0913 - what a call may have, each by its name
        cls,
        deadline: Deadline,
        progress: ProgressHandler | None,
        ask: InputHandler | None,
        log: LogHandler | None,
        caller: str = "",
        *,
        roots: RootsOf = "none",
        patient: bool = False,
        trace: str = "",
        trace_state: str = "",
    ) -> "CallContext":
        """A context in which None means that nobody listens."""
        listening = progress or _ignore_progress, ask or _no_replies, log or log_nowhere
        return cls(deadline, *listening, caller, roots, patient, trace, trace_state)

    def changed(
        self,
        *,
        deadline: Deadline | None = None,
        progress: ProgressHandler | None = None,
        ask: InputHandler | None = None,
        log: LogHandler | None = None,
    ) -> "CallContext":
        """The same but for these. Each call is handed on some times: `replace` takes far longer."""
        return CallContext(
            deadline or self.deadline,
            progress or self.progress,
            ask or self.ask,
            log or self.log,
            self.caller,
            self.roots,
            self.patient,
            self.trace,
            self.trace_state,
        )


@dataclass(frozen=True, slots=True)
class CallError:
    """Why a call failed, for programs and for models.

    `effect` says what became of it: it was not sent, it failed, or nobody knows. `schema` is there
    if the arguments do not fit it, `ticket` if the call waits for approval.
    """

    code: str
    phase: Phase
    message: str
    server: str | None = None
    retryable: bool = False
    effect: Effect = "not_sent"
    schema: JsonObject | None = None
    ticket: str = ""


class Page(NamedTuple):
    """One page of a long result: its number from 1, of how many, and what the result is.

    `found` is what was searched for, if these are the pages of the lines that were found.
    """

    number: int
    of: int
    about: str
    found: str = ""

    def note(self, following: str, finding: str) -> str:
        """What a model reads before the page: how large the result is, and how to go on.

        `following` says how the next page is read, `finding` how the result is searched; "" where
        the result is not held.
        """
        lines = [f"[{self.about}. Page {self.number} of {self.of}."]
        if following and self.number < self.of:
            lines.append(f"Read on: {following}.")
        if finding:
            how = f"Search in it, for words or a /pattern/: {finding}. Held for ten minutes."
            lines.append(how)
        else:
            lines.append("The rest is too large to be held: ask the tool for less.")
        return f"{' '.join(lines)}]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended. Without an `error` it succeeded.

    `content` is what the tool returned: a JSON value or, with `blocks`, the content blocks of MCP.
    `structured` is its structured content, if it has any, and `meta` the server's `_meta`. For a
    page of a long result, `page` says which, `content` is its text (with `blocks` also images and
    the like), and `handle` names the result, to read on or to search in it. `repaired` lists what
    was corrected in the arguments.
    """

    content: Json = None
    structured: Json = None
    error: CallError | None = None
    handle: str = ""
    repaired: tuple[str, ...] = ()
    meta: JsonObject = field(default_factory=dict[str, Json])
    blocks: bool = False
    page: Page | None = None

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.error is None
