"""Where waiting happens: an event loop in a thread of its own, and threads for plain functions.

A `BackgroundLoop` holds connections, whatever loop their callers are on, or none. A plain function
waits in a thread of its own (`run_in_thread`), so that one that hangs holds up nobody else. Not
`asyncio.to_thread`: its few threads are shared and waited for at exit, and a function that never
returns would keep one of them, and in the end the process.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, copy_context
from typing import TypeVar

JOIN_S = 5.0

T = TypeVar("T")


class BackgroundLoop:
    """One thread with an event loop of its own, started when it is first needed.

    With `loop`, which runs already, there is no thread, and work for callers on that loop runs
    right there. The loop has to outlive this, and `close` is called from another thread.
    """

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop = loop
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, work: Coroutine[object, object, T]) -> "Future[T]":
        """Run it there; cancelling the future cancels it. Raises `RuntimeError` once closed."""
        try:
            loop = self._running()
        except RuntimeError:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, loop)

    async def run(self, work: Coroutine[object, object, T]) -> T:
        """The same, awaited here; cancelling it here cancels it there."""
        if asyncio.get_running_loop() is self._loop:
            return await work
        return await asyncio.wrap_future(self.submit(work))

    def close(self, last: Callable[[], Coroutine[object, object, None]]) -> None:
        """Run `last` there if anything ever ran there, cancel the rest, and end the thread."""
        loop, thread = self._detach()
        if not loop:
            return
        try:
            asyncio.run_coroutine_threadsafe(last(), loop).result()
        finally:
            if thread:
                loop.call_soon_threadsafe(loop.stop)
                thread.join(JOIN_S)

    def end_soon(self) -> None:
        """Cancel what runs there and end the thread, without waiting. From any thread."""
        loop, thread = self._detach()
        if loop and thread:
            loop.call_soon_threadsafe(loop.stop)

    def _detach(self) -> tuple[asyncio.AbstractEventLoop | None, threading.Thread | None]:
        """Close it, and hand over what there is to end: the first time only."""
        with self._lock:
            loop, thread, self._closed = self._loop, self._thread, True
            self._loop = self._thread = None
            return loop, thread

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise RuntimeError("the connections are closed; make a new crib")
            if self._loop is None:
                # Not in the context of whoever comes first: the loop would hold on to it.
                self._loop = Context().run(asyncio.new_event_loop)
                self._thread = threading.Thread(
                    target=_run_loop, args=(self._loop,), name=self._name, daemon=True
                )
                self._thread.start()
            return self._loop


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped, then end what is still on it."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


async def run_in_thread(run: Callable[[], object]) -> object:
    """What `run` returns or raises. Cancelling ends the waiting; the thread runs to its own end."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()

    def finish(result: object, error: Exception | None) -> None:
        if future.done():
            return
        future.set_exception(error) if error else future.set_result(result)

    def work() -> None:
        result, error = _result_of(run)
        with suppress(RuntimeError):  # the loop has closed: nobody waits any more
            loop.call_soon_threadsafe(finish, result, error)

    threading.Thread(
        target=copy_context().run, args=(work,), daemon=True, name="toolcrib-tool"
    ).start()
    return await future


def _result_of(run: Callable[[], object]) -> tuple[object, Exception | None]:
    try:
        return run(), None
    except StopIteration as error:  # a future cannot hold one: it would end whoever awaits it
        failure = RuntimeError("the tool raised StopIteration")
        failure.__cause__ = error
        return None, failure
    except SystemExit as error:
        return None, RuntimeError(f"the tool wanted to end the process ({error.code})")
    except Exception as error:  # noqa: BLE001 - handed to whoever awaits it
        return None, error
