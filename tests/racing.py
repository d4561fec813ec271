"""Several processes that do something at the same moment."""

from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import TypeVar

from tests.waiting import HANG_S, let_pass

Done = TypeVar("Done")


def raced(*works: Callable[[], Done]) -> Sequence[Done]:
    """What each work gives, done in a process of its own, all from one moment on.

    A work has to be known by name to another process: a function of a module, or a partial of one.
    """
    context = get_context("spawn")
    start, answers = context.Barrier(len(works)), context.SimpleQueue()
    processes = [
        context.Process(target=_run, args=(number, work, start, answers))
        for number, work in enumerate(works)
    ]
    for process in processes:
        process.start()
    try:
        got = dict(answers.get() for _ in works)
    finally:
        for process in processes:
            process.join(HANG_S)
    failed = [each for each in got.values() if isinstance(each, _Failed)]
    assert not failed, failed
    return [got[number] for number in range(len(works))]


class _Failed(str):
    """What went wrong in another process."""

    __slots__ = ()


def _run(number: int, work: Callable[[], object], start: Barrier, answers: object) -> None:
    try:
        start.wait(HANG_S)
        answer = work()
    except Exception as error:  # noqa: BLE001 - told by whoever waits
        answer = _Failed(repr(error))
    answers.put((number, answer))  # type: ignore[attr-defined]


def killed(work: Callable[[Path, Event], None], path: Path, *, after_s: float) -> None:
    """Let a process do this work on a path, and kill it some time after it says that it began."""
    processes = get_context("forkserver")
    processes.set_forkserver_preload([work.__module__])
    started = processes.Event()
    child = processes.Process(target=work, args=[path, started], daemon=True)
    child.start()
    assert started.wait(HANG_S)
    let_pass(after_s)
    child.kill()
    child.join()
    child.close()
