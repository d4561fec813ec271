"""Serves one connection over a pair of streams, in the era of its first request.

It chooses between the SDK's loops for the two eras as `Server.run` does, which puts a task and a
queue in front of each message.
"""

from collections.abc import Sequence
from typing import Protocol

from toolcrib.gateway import sdk
from toolcrib.gateway.call_dispatcher import CallDispatcher, CallServer

MOST_BEFORE_OPENING = 8
"""So many messages before the first request are kept for whoever serves it."""


class RereadableStream(sdk.ReadStream[sdk.Item], Protocol):
    """A stream of messages that takes back what was read from it."""

    def put_back(self, items: Sequence[sdk.Item], /) -> None:
        """Give these again, in this order, before all else."""
        ...


async def serve_stream(
    server: CallServer, read: RereadableStream, write: sdk.WriteStream[sdk.SessionMessage]
) -> None:
    """Serve until no more messages come."""
    mcp_server = server.mcp_server
    async with mcp_server.lifespan(mcp_server) as state:
        try:
            opening = await _opening(read)
            if (
                opening
                and opening.method != "initialize"
                and sdk.has_modern_envelope(opening.params)
            ):
                await sdk.serve_modern_stream(
                    mcp_server, read, write, lifespan_state=state, raise_exceptions=False
                )
            else:
                await CallDispatcher(server, read, write).serve(state)
        finally:
            await read.aclose()
            await write.aclose()


async def _opening(read: RereadableStream) -> sdk.JSONRPCRequest | None:
    """The first request, which stays to be read; None where none comes."""
    before: list[sdk.Item] = []
    opening: sdk.JSONRPCRequest | None = None
    async for item in read:
        message = item.message if isinstance(item, sdk.SessionMessage) else None
        opening = message if isinstance(message, sdk.JSONRPCRequest) else None
        if opening or len(before) < MOST_BEFORE_OPENING:
            before.append(item)
        if opening:
            break
    read.put_back(before)
    return opening
