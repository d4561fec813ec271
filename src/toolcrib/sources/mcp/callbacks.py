"""What a server of the handshake asks in the middle of a call, handed to whoever made the call.

The replies are not ours to make up. Where nobody is there, each has its own way to say so, and the
server decides how to go on: an elicitation was dismissed, there are no roots, and a message is
refused.
"""

from typing import TypeVar

from toolcrib.model import InputMethod, JsonObject
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.listeners import Listeners
from toolcrib.sources.mcp.questions import forwarded
from toolcrib.sources.mcp.server import ServerConfig

KEY = "question"
REFUSED = -1  # what the protocol has for a person who says no to sampling
NOBODY = "nobody is there to reply"

Reply = TypeVar("Reply", bound=sdk.BaseModel)


class Callbacks:
    """For one connection. To be there is what declares that we can be asked: `known.declared`."""

    def __init__(self, listeners: Listeners, config: ServerConfig) -> None:
        self._listeners = listeners
        self._config = config

    async def elicit(
        self,
        context: sdk.ClientRequestContext,  # noqa: ARG002 - the SDK's signature, here and below
        params: sdk.ElicitRequestParams,
    ) -> sdk.ElicitResult:
        reply = await self._ask("elicitation/create", params, sdk.ElicitResult)
        return reply or sdk.ElicitResult(action="cancel")

    async def sample(
        self,
        context: sdk.ClientRequestContext,  # noqa: ARG002
        params: sdk.CreateMessageRequestParams,
    ) -> sdk.CreateMessageResult | sdk.ErrorData:
        reply = await self._ask("sampling/createMessage", params, sdk.CreateMessageResult)
        return reply or sdk.ErrorData(code=REFUSED, message=NOBODY)

    async def roots(
        self,
        context: sdk.ClientRequestContext,  # noqa: ARG002
    ) -> sdk.ListRootsResult:
        reply = await self._ask("roots/list", None, sdk.ListRootsResult)
        return reply or sdk.ListRootsResult(roots=[])

    async def _ask(
        self, question: InputMethod, params: sdk.BaseModel | None, kind: type[Reply]
    ) -> Reply | None:
        """The reply; None if there is none, or none that the protocol knows."""
        running = self._listeners.who()
        if running is None:
            return None
        given: JsonObject = params.model_dump(**sdk.AS_SENT) if params else {}
        asked = forwarded(self._config, question, given)
        if asked is None:
            return None
        replies = await running.ask({KEY: asked})
        try:
            return kind.model_validate(replies[KEY])
        except (KeyError, sdk.ValidationError):
            return None
