"""An app of Python, in a file or in a thread, that joins; and a raw connection to do wrong."""

import asyncio
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from websockets.sync.client import connect

from tests.waiting import HANG_S
from toolcrib.app import App
from toolcrib.sources.apps import public_file, read_address

PROGRAM = '''
import sys, time
from toolcrib.app import App

app = App("calendar", version="1", launch=[sys.executable, __file__])

@app.tool
def add_event(title: str) -> str:
    """Put an event into the calendar."""
    return f"added {title}"

@app.tool
def die() -> None:
    """End the program in the middle of a call."""
    import os
    os._exit(3)

app.run()
'''


@contextmanager
def serving(app: App) -> Generator[None]:
    """The app on a loop in a thread, as long as the context lasts."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(app.serve())
    thread = threading.Thread(target=_run, args=(loop, task), daemon=True)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(HANG_S)
        assert not thread.is_alive()


def _run(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[None]") -> None:
    asyncio.set_event_loop(loop)
    loop.run_until_complete(asyncio.wait([task]))
    loop.close()


def app_at(folder: Path, name: str = "calendar", **said) -> App:
    return App(name, address=public_file(folder), **said)


class Raw:
    """A connection that says what it is told to."""

    def __init__(self, socket, token: str) -> None:
        self.socket = socket
        self.token = token
        self.ids = 0

    def ask(self, method: str, **params):
        self.ids += 1
        self.socket.send(
            json.dumps({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params})
        )
        return self.hear()

    def hear(self):
        return json.loads(self.socket.recv(timeout=HANG_S))

    def hello(self, **said):
        return self.ask("hello", **{"token": self.token, "name": "raw"} | said)


@contextmanager
def raw(folder, path: str = "/", host: str = "127.0.0.1", **headers):
    address = read_address(public_file(folder))
    uri = f"ws://{host}:{address.port}{path}"
    with connect(uri, additional_headers=headers, proxy=None, compression=None) as socket:
        yield Raw(socket, address.token)
