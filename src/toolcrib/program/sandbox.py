"""The one door to `pydantic_monty`: an interpreter of Python in a process of its own.

    Sandbox       some worker processes
    ProgramProcess  one program in one of them: it goes on until it calls, waits, ends or fails

A program has no files, no network, no environment and no clock: whatever it asks the system for is
refused here, in one place. All that leaves it is a call of a function that it was given, what it
prints, and its value. Everything here waits for a process: an event loop makes it in a thread.

The pool of workers is the synchronous one. The asynchronous one of `pydantic_monty` 1.4 ended the
interpreter by an abort when it was shut down, in three of four short runs.
"""

import json
import os
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias
from uuid import NAMESPACE_URL, UUID, uuid5

from toolcrib.errors import ConfigError
from toolcrib.model import Json
from toolcrib.program.outcome import ProgramLimits

if TYPE_CHECKING:
    import pydantic_monty

MB, KB = 1024 * 1024, 1024
STEP_S = 30.0
"""How long a worker may take for one step before it is ended."""
TYPE_CHECK_S = 5.0
"""How long the type check may take: some hundred times what that of a long program takes."""
CHECKOUTS = 200
"""So many programs run in one worker, one after the other; then it is replaced."""
RECURSION = 200
MOST_SUSPENSIONS = 2_000
"""Of what a program asks for beside its calls: names, imports, files."""
BEGIN: Final = "toolcrib_begin"
"""A name before the first line that nobody has: where a program stops once it is checked."""

_TOO_HARD = (
    f"its types could not be checked in {TYPE_CHECK_S:g} s, so nothing of it was run; write it "
    "shorter, with fewer variables that are computed from each other in loops"
)
_GROUPS = uuid5(NAMESPACE_URL, "toolcrib:groups")


class ToolCalled(NamedTuple):
    """The program calls a function; `problem` is set where its arguments cannot be read."""

    id: int
    group: str
    function: str
    positional: int
    arguments: Mapping[str, object]
    problem: str = ""


class Blocked(NamedTuple):
    """The program waits for these calls, and can do nothing else."""

    ids: Sequence[int]


class Checked(NamedTuple):
    """The program is checked, and nothing of it has run."""


class Ended(NamedTuple):
    """The program is over; `value` is that of its last expression."""

    value: object


class Failed(NamedTuple):
    """The program is over by an error. `line` is that of the program; 0 if none is known."""

    code: Literal["program_failed", "program_limit", "program_died"]
    message: str
    line: int = 0


class Diagnostic(NamedTuple):
    """What the type checker says, of which place: lines and columns from 1."""

    code: str
    message: str
    line: int
    column: int
    end_line: int
    end_column: int


class Rejected(NamedTuple):
    """The type checker refuses the program."""

    diagnostics: Sequence[Diagnostic]


Step: TypeAlias = ToolCalled | Blocked | Checked | Ended | Failed | Rejected


class CallResult(NamedTuple):
    """What a call gives the program: a value, or the message of an error that it can catch."""

    value: Json = None
    error: str = ""


class _Group:
    """What a group of functions is in the sandbox. It has nothing: every access comes here."""


class Sandbox:
    """Worker processes for programs. They are started when the first is needed."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._starting = Lock()
        self._pool: pydantic_monty.Monty | None = None

    def open(self, limits: ProgramLimits, stubs: str = "") -> "ProgramProcess":
        """A process for one program, to be closed. It waits until one is free.

        Raises `ConfigError` without the extra.
        """
        monty = _monty()
        checkout = self._opened(monty).checkout(
            limits=_limits(limits),
            type_check=bool(stubs),
            type_check_stubs=f"{stubs}{BEGIN}: None\n",
            type_check_format="json",
            os_policy={"datetime": "call_host", "sleep": "call_host"},
        )
        return ProgramProcess(checkout.__enter__(), monty.CollectString(limits.output_kb * KB))

    def close(self) -> None:
        """End the workers."""
        with self._starting:
            pool, self._pool = self._pool, None
        if pool:
            pool.__exit__(None, None, None)

    def _opened(self, monty: Any) -> "pydantic_monty.Monty":  # noqa: ANN401 - the module itself
        with self._starting:
            if self._pool is not None:
                return self._pool
            pool: pydantic_monty.Monty = monty.Monty(
                max_processes=self._at_once,
                request_timeout=STEP_S,
                feed_duration_limit_grace=2 * TYPE_CHECK_S,  # the check is none of its steps
                max_checkouts_per_worker=CHECKOUTS,
            )
            self._pool = pool.__enter__()
            return self._pool


class ProgramProcess:
    """One program in a worker. Whoever closes it waits for the step that is under way."""

    def __init__(self, session: "pydantic_monty.MontySession", printed: Any) -> None:  # noqa: ANN401
        self._session = session
        self._printed = printed
        self._snapshot: Any = None
        self._turn = Lock()
        self._groups: Mapping[UUID, str] = {}
        self._objects: dict[UUID, _Group] = {}  # the same when a program is looked at again

    @property
    def printed(self) -> str:
        """What it has printed in this process."""
        return self._printed.output

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that its program may use."""
        return tuple(self._groups.values())

    def check(
        self,
        program: str,
        groups: Collection[str],
        variables: Mapping[str, Json],
        *,
        checked: bool = False,
    ) -> Step:
        """Check a program that may use these groups: `Checked`, `Rejected` or `Failed`.

        `variables` are there before its first line.

        `checked`: somebody has looked at what the type checker says; it is not asked again.
        """
        monty = _monty()
        self._groups = {_group_id(group): group for group in groups}
        kind = monty.ClassType(_Group, id=_GROUPS)
        inputs = dict(variables) | {
            group: monty.ClassInstance(
                self._objects.setdefault(id, _Group()), id=id, class_type=kind
            )
            for id, group in self._groups.items()
        }
        return self._next_in_time(
            lambda: self._session.feed_start(
                f"{BEGIN}\n{program}",
                inputs=inputs,
                print_callback=self._printed,
                skip_type_check=checked,
            )
        )

    def start(self) -> Step:
        """Run a program that is checked."""
        return self._next(lambda: self._snapshot.resume(value=None))

    def go_on(self) -> Step:
        """Go on after a call, whose result comes later."""
        return self._next(lambda: self._snapshot.resume({"future": ...}))

    def refuse(self, message: str) -> Step:
        """Go on after a call with an error in its place."""
        return self._next(lambda: self._snapshot.resume(_error(message)))

    def settle(self, results: Mapping[int, CallResult]) -> Step:
        """Go on with the results of calls that the program waits for."""
        answers = {id: _answer(result) for id, result in results.items()}
        return self._next(lambda: self._snapshot.resume(answers))

    def dump(self) -> bytes:
        """The program as it is now, while it waits."""
        with self._turn:
            return self._snapshot.dump()

    def load(self, state: bytes, groups: Collection[str]) -> Step:
        """Take up a program that was dumped. Only what is known to be ours may be loaded."""
        self._groups = {_group_id(group): group for group in groups}
        return self._next(lambda: self._session.load_snapshot(state, print_callback=self._printed))

    def close(self) -> None:
        """Give the worker back, once the step that is under way is over."""
        with self._turn:
            self._session.__exit__(None, None, None)

    def _next_in_time(self, check: Callable[[], Any]) -> Step:
        """The verdict of the type checker. It knows no deadline: at ours its worker is ended."""
        timer = Timer(TYPE_CHECK_S, _end_process, [self._session.worker_pid])
        timer.start()
        try:
            step = self._next(check)
        finally:
            timer.cancel()
            timer.join()  # from here on it ends nothing
        has_died = isinstance(step, Failed) and step.code == "program_died"
        return Failed("program_limit", _TOO_HARD) if has_died else step

    def _next(self, go: Callable[[], Any]) -> Step:
        """Go on to the next step that somebody has to know of."""
        monty = _monty()
        try:
            with self._turn:
                return self._step(go(), monty)
        except monty.MontyTypingError as error:
            return Rejected(_diagnostics(error.display()))
        except monty.MontyCrashedError as error:
            how = "took too long" if error.timed_out else "ended by itself"
            return Failed("program_died", f"the process of the program {how}")
        except (monty.MontySyntaxError, monty.MontyRuntimeError) as error:
            return _failed(error)
        except (monty.MontyError, ValueError, OverflowError) as error:
            return Failed("program_failed", f"its value cannot be read: {error}")

    def _step(self, snapshot: Any, monty: Any) -> Step:  # noqa: ANN401 - of the engine
        while True:
            self._snapshot = snapshot
            if isinstance(snapshot, monty.MontyComplete):
                return Ended(snapshot.output)
            if isinstance(snapshot, monty.FutureSnapshot):
                return Blocked(snapshot.pending_call_ids)
            if isinstance(snapshot, monty.NameLookupSnapshot):
                if snapshot.variable_name == BEGIN:
                    return Checked()
                snapshot = snapshot.resume()
            elif called := self._called(snapshot):
                return called
            else:
                snapshot = _refused(snapshot)

    def _called(self, snapshot: Any) -> ToolCalled | None:  # noqa: ANN401 - of the engine
        """The call of a function of a group; None for whatever else the program asks for."""
        group = self._groups.get(snapshot.object_id) if snapshot.object_id else None
        if snapshot.is_os_function or group is None:
            return None
        name = str(snapshot.function_name)
        try:
            positional, arguments = len(snapshot.args), dict(snapshot.kwargs)
        except (ValueError, OverflowError) as error:  # an integer that is too long to be read
            return ToolCalled(snapshot.call_id, group, name, 0, {}, str(error))
        return ToolCalled(snapshot.call_id, group, name, positional, arguments)


def _end_process(pid: int | None) -> None:
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def engine_version() -> str:
    """Whose dumps can be loaded: only those of the same version."""
    return _monty().__version__


def _monty() -> Any:  # noqa: ANN401 - the module itself
    try:
        import pydantic_monty  # noqa: PLC0415 - the extra, loaded by the first program
    except ImportError:
        remedy = "install it: pip install 'toolcrib[code]'"
        raise ConfigError(f"programs are run by an extra; {remedy}") from None
    return pydantic_monty


def _limits(limits: ProgramLimits) -> "pydantic_monty.ResourceLimits":
    return {
        "max_feed_duration_secs": limits.run_s,
        "max_memory": limits.memory_mb * MB,
        "max_recursion_depth": RECURSION,
        "max_suspensions": 2 * limits.calls + MOST_SUSPENSIONS,
    }


def _group_id(group: str) -> UUID:
    return uuid5(_GROUPS, group)


def _refused(snapshot: Any) -> Any:  # noqa: ANN401 - of the engine
    """Go on without what the program asked for: a file, the clock, a function that is none."""
    if snapshot.is_os_function:
        return snapshot.resume_not_handled()
    return snapshot.resume(
        {"exc_type": "NameError", "message": f"there is no function {snapshot.function_name!r:.80}"}
    )


def _answer(result: CallResult) -> Mapping[str, object]:
    return _error(result.error) if result.error else {"return_value": result.value}


def _error(message: str) -> Mapping[str, object]:
    return {"exc_type": "RuntimeError", "message": message}


def _failed(error: Any) -> Failed:  # noqa: ANN401 - of the engine
    message = error.display("type-msg")
    frames = [frame for frame in error.traceback() if frame.line > 1]
    is_limit = message.startswith(("TimeoutError: feed time limit", "MemoryError: memory limit"))
    code = "program_limit" if is_limit or "suspension limit" in message else "program_failed"
    return Failed(code, message, frames[-1].line - 1 if frames else 0)


def _diagnostics(text: str) -> Sequence[Diagnostic]:
    """What the type checker found wrong, without the line before the first."""
    found: list[dict[str, Any]] = json.loads(text)
    return [
        Diagnostic(
            str(each["name"]),
            str(each["message"]),
            each["location"]["row"] - 1,
            each["location"]["column"],
            each["end_location"]["row"] - 1,
            each["end_location"]["column"],
        )
        for each in found
        if each["severity"] == "error" or each["name"] == "unused-awaitable"
    ]
