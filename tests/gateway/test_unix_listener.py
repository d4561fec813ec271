"""The socket of shims gives whoever welcomes them a reader from which lines may be taken."""

import asyncio
from pathlib import Path

from tests.waiting import HANG_S, until_async
from toolcrib.gateway.unix_listener import UnixListener, hang_up
from toolcrib.system import LineReader


def test_a_line_of_a_client_may_be_taken_as_it_comes(tmp_path: Path):
    taken: list[bytes] = []

    async def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert isinstance(reader, LineReader)
        assert await reader.readuntil(b"\n") == b"hello\n"
        reader.take_line = lambda line: bool(taken.append(line)) or True
        writer.write(b"welcome\n")
        await reader.read(100)
        await hang_up(writer)

    async def run() -> None:
        listener = UnixListener(welcome)
        await listener.listen(str(tmp_path / "s"))
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / "s"))
        writer.write(b"hello\n")
        await reader.readline()
        writer.write(b"one\n")
        await until_async(lambda: bool(taken))
        await hang_up(writer)
        await reader.read()
        listener.close()

    asyncio.run(asyncio.wait_for(run(), HANG_S))
    assert taken == [b"one"]
