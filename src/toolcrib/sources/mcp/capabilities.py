"""What a server is told that it may ask, request by request.

In the modern era each request says what its client can be asked, and a reply to a question is a
result: there is none that says no. So a server that asks for what nobody here can give is called
again without that capability, and decides itself how to go on.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import sdk

_WITHHELD: Final = "toolcrib/withheld"


def without(capabilities: Collection[str]) -> JsonObject:
    """What goes into the `_meta` of a request that is to be sent without these capabilities."""
    listed: list[Json] = [*sorted(capabilities)]
    return {_WITHHELD: listed} if listed else {}


class CapabilityWriter(sdk.AsyncResource):
    """Sends what the SDK sends, after it has said on each request what we can be asked."""

    def __init__(self, write: sdk.WriteStream[sdk.SessionMessage]) -> None:
        self._write = write

    async def send(self, item: sdk.SessionMessage, /) -> None:
        await self._write.send(_narrowed(item))

    async def aclose(self) -> None:
        await self._write.aclose()


def _narrowed(item: sdk.SessionMessage) -> sdk.SessionMessage:
    message = item.message
    if not isinstance(message, sdk.JSONRPCRequest):
        return item
    meta: dict[str, Any] = dict((message.params or {}).get("_meta") or {})
    withheld = meta.pop(_WITHHELD, None)
    if withheld is None:
        return item
    able: Mapping[str, Any] = meta.get(sdk.CLIENT_CAPABILITIES_META_KEY) or {}
    meta[sdk.CLIENT_CAPABILITIES_META_KEY] = {
        name: value for name, value in able.items() if name not in withheld
    }
    params = {**(message.params or {}), "_meta": meta}
    return replace(item, message=message.model_copy(update={"params": params}))
