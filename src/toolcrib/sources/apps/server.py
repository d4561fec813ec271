"""The port where apps come in: hello first, then what they register."""

import asyncio
import os
import secrets
from contextlib import AsyncExitStack
from pathlib import Path

from toolcrib.sources.apps.address import Address, Claim, own_file, sweep_own_files, write_address
from toolcrib.sources.apps.peer import Peer, Socket
from toolcrib.sources.apps.visit import Visit, Welcome

HELLO_S = 5.0
MOST_CONNECTIONS = 64


class AppServer:
    """Lives on one loop. Opens its port when it is first needed."""

    def __init__(self, folder: Path, welcome: Welcome) -> None:
        self._welcome = welcome
        self._folder = folder
        self._own = own_file(folder)
        self._opening = asyncio.Lock()
        self._open = AsyncExitStack()
        self._address: Address | None = None
        self._claim: Claim | None = None
        self._peers: set[Peer] = set()

    async def open(self) -> Path:
        """The file with our address, for the apps that this process launches."""
        from toolcrib.sources.apps.sockets import listening  # noqa: PLC0415 - nobody else needs it

        async with self._opening:
            if self._address is None:
                port = await self._open.enter_async_context(listening(self._serve))
                self._address = Address(port, secrets.token_urlsafe(32), os.getpid())
                sweep_own_files(self._folder)
                write_address(self._own, self._address)
            return self._own

    async def publish(self) -> None:
        """Let every app of this user come in. Raises `SourceError` when another process does."""
        await self.open()
        if self._claim is None and self._address:
            self._claim = Claim(self._folder)
            write_address(self._claim.file, self._address)

    async def close(self) -> None:
        """Take the address away, and end every connection."""
        if self._claim:
            self._claim.close()
        self._own.unlink(missing_ok=True)
        await asyncio.gather(*(peer.close("Toolcrib ends") for peer in self._peers))
        await self._open.aclose()

    async def _serve(self, socket: Socket) -> None:
        if self._address is None or len(self._peers) >= MOST_CONNECTIONS:
            await socket.close("too many connections")
            return
        visit = Visit(socket, self._address.token, self._welcome)
        self._peers.add(visit.peer)
        reading = asyncio.ensure_future(visit.peer.run())
        try:
            await asyncio.wait({reading}, timeout=HELLO_S)
            if visit.app is None:
                await visit.peer.close("no hello")
            await reading
        finally:
            reading.cancel()
            self._peers.discard(visit.peer)
            await visit.leave()
