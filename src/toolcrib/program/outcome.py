"""What a program gives back: its value, what it printed, and what became of each of its calls."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from toolcrib.model import Effect, Json, Outcome, PermissionKind

CallEffect = Literal["done", "failed", "unknown", "refused", "waiting"]
"""`refused`: it was not sent. `waiting`: it needs a person, and was not sent yet."""


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """The bounds of one program. Each is a setting of the section `program`.

    `timeout_s` is for all of a run, with the waiting for tools, and without the time in which a
    person is asked; `run_s` for the program's own steps alone. `memory_mb` is what its values may
    take, `output_kb` what it may print. `suspended_s` is how long it waits for a person.
    """

    timeout_s: float
    run_s: float
    memory_mb: int
    calls: int
    calls_at_once: int
    output_kb: int
    suspended_s: float


class ProgramTool(NamedTuple):
    """A tool that a program may call: its name, the function that it is, and what it can do.

    `asks`: a person is asked before each call.
    """

    name: str
    path: str
    permission_kind: PermissionKind
    asks: bool


class ProgramProblem(NamedTuple):
    """What is wrong with a program before it is run, and in which line; 0 if in none."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """What is known of a program before anything is called.

    `signatures` are those of the functions that the problems are about.
    """

    tools: tuple[ProgramTool, ...] = ()
    problems: tuple[ProgramProblem, ...] = ()
    signatures: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it can be run."""
        return not self.problems

    @property
    def text(self) -> str:
        """The problems for a model or a person, with the right signatures; "" if it is ok."""
        lines = [f"line {line}: {text}" if line else text for line, text in self.problems]
        return "\n".join([*lines, *self.signatures])


class ProgramCall(NamedTuple):
    """One call of a program: the tool, what became of it, and the size of its result in characters.

    `code` is that of the error, if it had one.
    """

    tool: str
    effect: CallEffect
    size: int = 0
    code: str = ""


@dataclass(frozen=True, slots=True)
class ProgramOutcome(Outcome):
    """How a program ended, or that it waits. It is an `Outcome`, so it is shown as one.

    `content` is what a model gets: what was printed, then the value of the last expression.
    `value` and `printed` are the two by themselves. `calls` are all calls in the order in which
    they were made. `suspended` is the handle to resume it with, if it waits for a person; then the
    error has the ticket, and the program goes on where it is.
    """

    value: Json = None
    printed: str = ""
    calls: tuple[ProgramCall, ...] = ()
    suspended: str = ""


def effect_of(calls: tuple[ProgramCall, ...]) -> Effect:
    """What became of a program that failed: of its calls the one that matters most."""
    effects = {call.effect for call in calls}
    if "unknown" in effects:
        return "unknown"
    return "failed" if effects & {"done", "failed"} else "not_sent"
