"""How a long step shows what it does: a bar at a terminal, a line now and then in a pipe.

It goes to standard error, so that what a command prints stays clean.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Protocol, TypeVar

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from toolcrib.cli.screen import console, safe

EVERY_S = 5.0
"""Seconds between two lines in a pipe; what takes less says nothing there."""

T = TypeVar("T")


class Steps(Protocol):
    """Hears how far each step is; `total` may grow."""

    def __call__(self, name: str, done: int, total: int, /) -> None: ...


@contextmanager
def progress(*, quiet: bool = False) -> Generator[Steps]:
    """Shows the steps that it is told of, unless it is to be quiet."""
    screen = console(to_stderr=True)
    if quiet:
        yield _silent
    elif screen.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=screen, transient=True) as bar:
            yield _Bars(bar)
    else:
        yield _Lines()


def tracked(items: Sequence[T], name: str, steps: Steps) -> Iterator[T]:
    """The same items; each that was used is a part of the step."""
    for number, item in enumerate(items, 1):
        yield item
        steps(name, number, len(items))


def _silent(_name: str, _done: int, _total: int, /) -> None:
    return


class _Bars:
    """A bar for each step, gone at the end."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._tasks = dict[str, TaskID]()

    def __call__(self, name: str, done: int, total: int, /) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._bar.add_task(safe(name).plain, total=total)
        self._bar.update(self._tasks[name], completed=done, total=total)


class _Lines:
    """A line every few seconds."""

    def __init__(self) -> None:
        self._next = monotonic() + EVERY_S

    def __call__(self, name: str, done: int, total: int, /) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + EVERY_S
            console(to_stderr=True).print(safe(f"{name}: {done} of {total}"), soft_wrap=True)
