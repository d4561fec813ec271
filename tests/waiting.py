"""The one way in which tests wait: until it holds, with a bound that only a hang reaches.

A busy machine is slow, and that is no finding. A test that waits for something says what it waits
for, never how long it may take. A test that has to show that nothing happens lets some time pass,
and asserts nothing about it. `tests/test_waiting.py` keeps it so.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

Found = TypeVar("Found")

HANG_S = 100.0
"""After this long it hangs. Far less than pytest's `faulthandler_timeout`: the test says so."""

PAUSE_S = 0.02


def until(holds: Callable[[], Found], what: str = "") -> Found:
    """What the check gives as soon as that is true; a failed test if it never is."""
    end = time.monotonic() + HANG_S
    while not (found := holds()):
        assert time.monotonic() < end, _never(holds, what)
        time.sleep(PAUSE_S)
    return found


def what_is_left(look: Callable[[], Found]) -> Found:
    """What one sees as soon as that is nothing; if it never is, what one sees in the end."""
    end = time.monotonic() + HANG_S
    while (left := look()) and time.monotonic() < end:
        time.sleep(PAUSE_S)
    return left


async def until_async(holds: Callable[[], Awaitable[Found] | Found], what: str = "") -> Found:
    """The same on an event loop, which goes on meanwhile; the check may itself wait, or not."""
    end = time.monotonic() + HANG_S
    while not (found := await _checked(holds)):
        assert time.monotonic() < end, _never(holds, what)
        await asyncio.sleep(PAUSE_S)
    return found


def let_pass(seconds: float = 0.2) -> None:
    """Give what must not happen the time to happen, or come at it at another moment.

    A busy machine makes such a test see less, and never fail.
    """
    time.sleep(seconds)


async def let_pass_async(seconds: float = 0.2) -> None:
    """The same on an event loop."""
    await asyncio.sleep(seconds)


async def _checked(holds: Callable[[], Awaitable[Found] | Found]) -> Found:
    found = holds()
    return await found if inspect.isawaitable(found) else cast("Found", found)


def _never(holds: Callable[[], object], what: str) -> str:
    return f"it never came to hold: {what or getattr(holds, '__qualname__', holds)}"
