"""No test depends on how fast the machine is: what `tests/waiting.py` is for, it is used for.

Three things are looked for in the source of the tests: a pause, a bound that a busy machine could
reach, and a clock that is compared. Whatever needs one says why, below.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import HANG_S

FOLDER = Path(__file__).parent
HANGS_S = 60
"""Whatever sleeps so long is meant to hang, until it is cancelled or killed."""

CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time", "monotonic_ns"}
BY_POSITION = {"wait": 0, "join": 0, "result": 0, "timeout": 0, "wait_for": 1}
"""Where the bound of a wait stands, if it is not called `timeout`."""

_FAKE = "it is a fake that takes its time, however long the test waits for it"
EXCEPTIONS = {
    "conformance/tools.py::logs": _FAKE,
    "conformance/tools.py::progresses": _FAKE,
    "deploy/replica_server.py::call": _FAKE,
    "embed/loopback.py::drip": _FAKE,
    "gateway/echo_servers.py::EchoServer": _FAKE,
    "sources/mcp/fake_npx.py::install": _FAKE,
    "sources/mcp/fake_server.py::asks_late": _FAKE,
    "sources/mcp/fake_server.py::progress": _FAKE,
    "sources/mcp/fake_server.py::sleep": _FAKE,
    "sources/mcp/fake_server.py::storm": _FAKE,
    "sources/mcp/fake_server.py::watch_rug": _FAKE,
    "sources/mcp/faking.py::within_s": "it is the clock that a start is given, and no test's",
    "gateway/http/test_wire.py::test_a_steady_stream_of_searches_is_served": (
        "it paces the requests, and asserts nothing about the time"
    ),
    "sources/mcp/lifecycle/test_server_loop.py::slots_used": (
        "the clock of its loop is its own, and jumps to whatever comes next"
    ),
    "sources/mcp/lifecycle/test_server_loop.py::"
    "test_a_slot_that_is_taken_keeps_a_server_from_being_idle": (
        "what must not come has its time to come; on a slow machine it has more"
    ),
    "sources/mcp/test_source.py::test_a_storm_of_changes_is_listed_once_a_second": (
        "it bounds a rate: on a slow machine there is less of it, and never more"
    ),
    "sources/mcp/test_source.py::test_the_seconds_of_a_refresh_begin_with_its_turn": (
        "what is measured is held against a clock that began before it, however slow both are"
    ),
    "system/test_deadline.py::test_a_deadline_moves_on_while_somebody_is_asked": (
        "a reply takes a moment; the deadline passes in any case, unless it is paused"
    ),
    "system/test_deadline.py::test_a_timer_moves_on_while_its_deadline_is_paused": (
        "the deadline passes in any case, unless it is paused"
    ),
}
"""By file and function, why it may look at the clock."""


def offences(source: str) -> Iterator[tuple[str, int]]:
    """The outermost function, or none, and the line of whatever depends on speed."""
    tree = ast.parse(source)
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in tree.body:
        name = getattr(node, "name", "")
        for inner in ast.walk(node):
            if _sleeps(inner, constants) or _bounds(inner, constants) or _times(inner):
                yield name, getattr(inner, "lineno", 0)


def _sleeps(node: ast.AST, constants: dict[str, ast.expr]) -> bool:
    if not (isinstance(node, ast.Call) and node.args and _name(node.func) == "sleep"):
        return False
    seconds = _number(node.args[0], constants)
    return seconds is None or 0 < seconds < HANGS_S


def _bounds(node: ast.AST, constants: dict[str, ast.expr]) -> bool:
    """A literal number of seconds, here or in a constant of the file; none is no wait."""
    if not isinstance(node, ast.Call):
        return False
    given = [each.value for each in node.keywords if each.arg == "timeout"]
    place = BY_POSITION.get(_name(node.func), len(node.args))
    given += node.args[place : place + 1]
    return any(0 < (_number(each, constants) or 0) < HANG_S for each in given)


def _times(node: ast.AST) -> bool:
    """A clock that is compared, or two whose difference is taken; a deadline is neither."""
    difference = (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and not isinstance(node.right, ast.Constant)
    )
    if not (difference or isinstance(node, ast.Compare)):
        return False
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(
        isinstance(each.func, ast.Attribute)
        and each.func.attr in CLOCKS
        and _name(each.func.value) == "time"
        for each in calls
    )


def _name(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _number(node: ast.expr, constants: dict[str, ast.expr]) -> float | None:
    if isinstance(node, ast.Name):
        node = constants.get(node.id, node)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    return None


def everywhere() -> Iterator[tuple[str, str]]:
    for path in sorted(FOLDER.rglob("*.py")):
        if path.name != "waiting.py":
            where = path.relative_to(FOLDER).as_posix()
            for name, line in offences(path.read_text(encoding="utf-8")):
                yield f"{where}::{name}", f"tests/{where}:{line}"


def test_nothing_depends_on_the_speed_of_the_machine():
    found = [where for name, where in everywhere() if name not in EXCEPTIONS]
    assert not found, "wait by tests/waiting.py, or say in EXCEPTIONS why not"


def test_every_exception_is_needed():
    assert set(EXCEPTIONS) <= {name for name, _ in everywhere()}


@pytest.mark.parametrize(
    "code",
    [
        "time.sleep(0.1)",
        "await_ = asyncio.sleep(1)",
        "time.sleep(after)",
        "assert time.monotonic() - started < 5",
        "while time.monotonic() < until: pass",
        "assert time.thread_time() < 3",
        "thread.join(5)",
        "event.wait(10)",
        "future.result(SOON)",
        "asyncio.timeout(2.5)",
        "asyncio.wait_for(work(), 20)",
        "subprocess.run(command, timeout=30)",
        "queue.get(timeout=SOON)",
    ],
)
def test_what_depends_on_speed_is_seen(code: str):
    assert set(offences(f"SOON = 20.0\ndef test():\n    {code}")) == {("test", 3)}


@pytest.mark.parametrize(
    "code",
    [
        "asyncio.sleep(0)",
        "asyncio.sleep(600)",
        "soon(0.2)",
        "CallContext(Deadline(0.5))",
        "thread.join(HANG_S)",
        "thread.join()",
        '", ".join(words)',
        "worker.wait(0)",
        "given.get(5)",
        "asyncio.wait_for(work(), HANG_S)",
        "Server(start_timeout_s=0.2)",
    ],
)
def test_what_does_not_is_let_be(code: str):
    assert not list(offences(f"def test():\n    {code}"))
