"""Notifications that a server sends by itself: `list_changed`, `resources/updated`.

A server of the handshake sends `list_changed` unasked. In the modern era both are streams that we
keep open. The tap sees what comes.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest


class Subscriptions:
    """Of one connection."""

    def __init__(self) -> None:
        self._streams: dict[str, asyncio.Task[None]] = {}

    @asynccontextmanager
    async def of_lists(self, client: sdk.Client) -> AsyncGenerator[None]:
        """Get `list_changed` meanwhile. At the end all streams are closed."""
        has = client.server_capabilities
        sends = any(kind and kind.list_changed for kind in (has.tools, has.resources, has.prompts))
        if _is_modern(client) and sends:
            self._streams[""] = asyncio.create_task(_listen(client))
        try:
            yield
        finally:
            for stream in self._streams.values():
                stream.cancel()
            if self._streams:
                await asyncio.wait(self._streams.values())

    async def of_resource(self, client: sdk.Client, request: UpstreamRequest) -> sdk.BaseModel:
        """Subscribe to a resource, or unsubscribe. Raises what the SDK raises."""
        uri = str(request.params["uri"])
        ends = request.method == "resources/unsubscribe"
        if not _is_modern(client):
            kind = sdk.UnsubscribeRequest if ends else sdk.SubscribeRequest
            message = kind.model_validate({"method": request.method, "params": request.params})
            return await client.session.send_request(message, sdk.EmptyResult)
        if ends:
            stream = self._streams.pop(uri, None)
            if stream:
                stream.cancel()
        elif uri not in self._streams or self._streams[uri].done():
            await self._open(client, uri)
        return sdk.EmptyResult()

    async def _open(self, client: sdk.Client, uri: str) -> None:
        """Keep a stream open for this resource; returns once the server has agreed."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def follow() -> None:
            try:
                async with client.listen(resource_subscriptions=[uri]) as changes:
                    ready.set_result(None)
                    async for _ in changes:
                        pass
            except Exception as error:  # noqa: BLE001 - raised where it is waited for
                if not ready.done():
                    ready.set_exception(error)

        self._streams[uri] = asyncio.create_task(follow())
        await ready


def _is_modern(client: sdk.Client) -> bool:
    return client.session.discover_result is not None


async def _listen(client: sdk.Client) -> None:
    with suppress(Exception):  # a server may refuse
        async with client.listen(
            tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
        ) as changes:
            async for _ in changes:
                pass
