"""What a session reaches, handed to it: the crib's side, bound to one caller."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from toolcrib.execute import ApprovalRequest, Approver
from toolcrib.model import (
    Answer,
    Call,
    Entry,
    JsonObject,
    Outcome,
    ProgressHandler,
    Query,
    ToolInfo,
)
from toolcrib.program import ProgramListeners, ProgramOutcome

if TYPE_CHECKING:
    from toolcrib.program import ToolSignature


class RunSearch(Protocol):
    """Searches in the caller's scope."""

    def __call__(self, query: Query, /) -> Answer: ...


class MakeCall(Protocol):
    """Calls through the door, as the caller."""

    async def __call__(
        self,
        call: Call,
        /,
        *,
        timeout_s: float | None,
        approver: Approver | None,
        progress: ProgressHandler | None,
        paged: bool,
    ) -> Outcome: ...


class RunProgram(Protocol):
    """Runs a program, or resumes the one of a handle, as the caller."""

    async def __call__(
        self,
        program_or_handle: str,
        listeners: ProgramListeners,
        /,
        *,
        paged: bool,
    ) -> ProgramOutcome: ...


class ReadResult(Protocol):
    """Reads a page of a long result of the caller's, or of its lines that have some words."""

    def __call__(self, handle: str, *, page: int, find: str) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class Host:
    """What a session reaches of a crib, all of it as one caller.

    search, call   as this caller; so are the next two
    run, resume    a program
    signatures     tools as the functions of programs, by name; not what this caller may not call
    of_request     the tools of this request alone, by name
    means          the entry of the pool that a call of this name would reach; None if it would
                   reach none, or a tool of the request alone
    question       what a person would be asked before this call; None if nobody would be
    asks           whether the rules want a person to approve calls of a name, whatever its state
    read           the text of a skill or an agent, or of a file of a skill, for a model
    result         a page of a long result
    check          the arguments as they would be sent; raises `CallRefused`
    aside          does what may take a while (an embedder may be asked) off the event loop
    """

    search: RunSearch
    call: MakeCall
    run: RunProgram
    resume: RunProgram
    signatures: "Callable[[Iterable[str]], Mapping[str, ToolSignature]]"
    of_request: Callable[[], Mapping[str, Entry]]
    means: Callable[[str], Entry | None]
    question: Callable[[str, JsonObject | str], ApprovalRequest | None]
    asks: Callable[[str], bool]
    read: Callable[[str], Outcome]
    result: ReadResult
    check: Callable[[ToolInfo, JsonObject | str], JsonObject]
    aside: Callable[[Callable[[], Outcome]], Awaitable[Outcome]]
