"""Plain functions wait in threads of their own, so that one that hangs holds up nobody else.

Not `asyncio.to_thread`: its few threads are shared and waited for at exit, and a tool that never
returns would keep one of them, and in the end the process.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from threading import Thread


async def in_thread(run: Callable[[], object]) -> object:
    """What `run` returns or raises. Cancelled, it waits no longer; the thread ends when it ends."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()

    def tell(result: object, error: Exception | None) -> None:
        if future.done():
            return
        future.set_exception(error) if error else future.set_result(result)

    def work() -> None:
        result, error = _ran(run)
        with suppress(RuntimeError):  # the loop has closed: nobody is left to be told
            loop.call_soon_threadsafe(tell, result, error)

    Thread(target=copy_context().run, args=(work,), daemon=True, name="toolcrib-tool").start()
    return await future


def _ran(run: Callable[[], object]) -> tuple[object, Exception | None]:
    try:
        return run(), None
    except StopIteration as error:  # a future cannot hold one: it would end whoever awaits it
        told = RuntimeError("the tool raised StopIteration")
        told.__cause__ = error
        return None, told
    except SystemExit as error:
        return None, RuntimeError(f"the tool wanted to end the process ({error.code})")
    except Exception as error:  # noqa: BLE001 - handed to whoever awaits it
        return None, error
