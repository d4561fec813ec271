"""Work for a guest that may have to ask in between, over as many requests as that takes.

A client of the modern era cannot be sent a question: it gets it in place of the result, and calls
again with the reply. Until then the work is kept, waiting, under a handle that cannot be guessed
and is good for one reply; a seal ties it to the very request that it was given for.

    request ──> work ──> asks ──> input_required + requestState ──┐
                  ^                                               │
                  └── reply <── the same request + requestState <─┘
"""

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any

from toolcrib.gateway import sdk
from toolcrib.gateway.asking import Heard, asker
from toolcrib.gateway.guest import Guest
from toolcrib.gateway.kept import Kept, Work
from toolcrib.gateway.logs import Logs

MOST_KEPT = 6
DONE_KEPT_S = 60.0
KEY_BYTES = 32
INPUT_REQUIRED = "input_required"
NOT_SENDABLE = "the tool ran, but MCP cannot carry its result; `toolcrib call` shows it"
NOT_VALID = "this requestState is not valid, or not any more; make the request again without it"


class Rounds:
    """The work that is done for one guest, and what of it waits for a reply."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._key = secrets.token_bytes(KEY_BYTES)
        self._kept: dict[str, Kept] = {}

    async def serve(self, context: sdk.Context, work: Work) -> sdk.Result:
        """Do the work of a request, or go on with it. Cancelling it cancels the work.

        Raises `MCPError` for a `requestState` that is none of ours, and for a result that the
        protocol does not know: the SDK would write it to the log instead of sending it.
        """
        result = await self._served(context, work)
        if not sdk.fits(context.method, context.protocol_version, result):
            raise sdk.MCPError(sdk.INTERNAL_ERROR, NOT_SENDABLE)
        return result

    async def _served(self, context: sdk.Context, work: Work) -> sdk.Result:
        if not sdk.is_modern(context):
            heard = Heard(Logs(context), asker(context))
            try:
                return await work(heard)
            finally:
                await heard.sent()
        kept = self._resumed(context) if _given(context, "requestState") else None
        return await self._round(context, kept or self._begun(context, work))

    def close(self) -> None:
        """Give up all that waits."""
        for kept in self._kept.values():
            kept.cancel()
        self._kept.clear()

    def _begun(self, context: sdk.Context, work: Work) -> Kept:
        return Kept(context, work, _given(context, "inputResponses"))

    async def _round(self, context: sdk.Context, kept: Kept) -> sdk.Result:
        try:
            result = await kept.until_asked()
        except asyncio.CancelledError:
            kept.cancel()
            raise
        if result is not None:
            return result
        self._keep(kept)
        kept.task.add_done_callback(lambda _: self._drop_later(kept))
        state = self._sealed(context, kept)
        return {"resultType": INPUT_REQUIRED, "inputRequests": kept.asked(), "requestState": state}

    def _keep(self, kept: Kept) -> None:
        """Keep it; where too many wait, the one that has waited longest is given up."""
        while len(self._kept) >= MOST_KEPT:
            self._kept.pop(next(iter(self._kept))).cancel()
        self._kept[kept.handle] = kept

    def _resumed(self, context: sdk.Context) -> Kept:
        handle = str(_given(context, "requestState")).partition(".")[0]
        kept = self._kept.get(handle)
        if kept is None or not self._fits(context, kept):
            raise sdk.MCPError(sdk.INVALID_PARAMS, NOT_VALID)
        del self._kept[handle]
        kept.resume(context, _given(context, "inputResponses"))
        return kept

    def _fits(self, context: sdk.Context, kept: Kept) -> bool:
        state = str(_given(context, "requestState"))
        return hmac.compare_digest(state.encode(), self._sealed(context, kept).encode())

    def _sealed(self, context: sdk.Context, kept: Kept) -> str:
        """The state that a client sends back: the handle, and whose and what it is for."""
        what = [self._guest.id, kept.handle, context.method, *_target(context.params or {})]
        seal = hmac.new(self._key, json.dumps(what).encode(), hashlib.sha256).hexdigest()
        return f"{kept.handle}.{seal}"

    def _drop_later(self, kept: Kept) -> None:
        """Let go of what is done, if nobody comes for it: whoever does finds it for a while."""
        if not kept.task.cancelled():
            kept.task.exception()  # whoever comes for it hears of it
        loop = asyncio.get_running_loop()
        loop.call_later(DONE_KEPT_S, lambda: self._kept.pop(kept.handle, None))


def _given(context: sdk.Context, key: str) -> Any:  # noqa: ANN401 - JSON, checked by the SDK
    return (context.params or {}).get(key)


def _target(params: Mapping[str, Any]) -> list[Any]:
    arguments = json.dumps(params.get("arguments") or {}, sort_keys=True)
    return [params.get("name"), params.get("uri"), arguments]
