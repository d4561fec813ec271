"""The words of a tool, handed on to the client in whose call they were said.

A client says from which level on it wants to hear any: one of the handshake once and for all
(`logging/setLevel`), one of the modern era with each request, or it hears none.
"""

import asyncio

from toolcrib.gateway import sdk
from toolcrib.model import JsonObject

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
UNLESS_SAID = "info"
MOST_UNSENT = 100
_LEVEL = "toolcrib/log-level"


class Logs:
    """For one piece of work. `context` is the request that is served now, and may become another.

    What is said is sent in its order; `sent` waits for it, so that nothing comes after the result.
    """

    def __init__(self, context: sdk.Context) -> None:
        self.context = context
        self._unsent: set[asyncio.Task[None]] = set()

    def log(self, message: JsonObject) -> None:
        """Send one message of the protocol (level, data, logger), if the client cares."""
        context = self.context
        if message.get("level") in wanted(context) and len(self._unsent) < MOST_UNSENT:
            task = asyncio.ensure_future(_send(context, message))
            self._unsent.add(task)
            task.add_done_callback(self._unsent.discard)

    async def sent(self) -> None:
        if self._unsent:
            await asyncio.wait(self._unsent)


def wanted(context: sdk.Context) -> tuple[str, ...]:
    """The levels that the client of this request wants to hear."""
    if sdk.is_modern(context):
        meta: JsonObject = dict(context.meta or {})
        least = meta.get(sdk.LOG_LEVEL_META_KEY)
    else:
        least = sdk.connection_of(context).state.get(_LEVEL, UNLESS_SAID)
    return LEVELS[LEVELS.index(least) :] if least in LEVELS else ()


async def set_level(context: sdk.Context, params: sdk.SetLevelRequestParams) -> sdk.EmptyResult:
    """Serve `logging/setLevel`: for this connection, and for no other."""
    sdk.connection_of(context).state[_LEVEL] = params.level
    return sdk.EmptyResult()


async def _send(context: sdk.Context, message: JsonObject) -> None:
    notification = sdk.LoggingMessageNotification.model_validate(
        {"method": "notifications/message", "params": message}
    )
    await context.session.send_notification(notification, context.request_id)
