"""Elicitation, sampling and roots: what a server may ask in the middle of a call.

A client shows a question as the words of its own server, which is us. So the question says which
server asks, nothing in it is hidden, and a page to open is one whose address a person can read.
Whoever made the call replies; we make up no reply. Where nobody is there the server hears so: an
elicitation was cancelled, there are no roots, sampling is refused.
"""

from collections.abc import Mapping, Sequence
from typing import TypeGuard, TypeVar
from urllib.parse import urlsplit

from toolcrib.model import InputMethod, InputRequest, Json, JsonObject
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.client.active_calls import ActiveCalls
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.sanitize import is_plaintext
from toolcrib.text import find_hidden, show_hidden

LONGEST_MESSAGE = 4_000
LONGEST_ADDRESS = 2_000
SERVER_META_KEY = "toolcrib/server"
QUESTION_KEY = "question"
SAMPLING_REFUSED = -1  # what the protocol has for a person who says no to sampling
NOBODY = "nobody is there to reply"
_DISPLAYED = frozenset({"title", "description", "enumNames", "text", "systemPrompt"})
"""The keys of displayed texts. The rest goes back to the server in the reply, as it is."""

Reply = TypeVar("Reply", bound=sdk.BaseModel)


def question_for_caller(
    config: ServerConfig, question: InputMethod, params: JsonObject
) -> InputRequest | None:
    """The question as the caller gets to see it, with the server's name; None: do not ask.

    It is not asked if the operator has switched that off, or if the reply would repeat hidden
    characters.
    """
    if question == "roots/list":
        return InputRequest(question, params)
    if question == "sampling/createMessage":
        return InputRequest(question, _sampling(config, params)) if config.sampling else None
    if not config.elicitation or _hides(params):
        return None
    return _elicitation(config, params)


def _elicitation(config: ServerConfig, params: JsonObject) -> InputRequest | None:
    message = _quoted(config.id, str(params.get("message") or ""))
    if params.get("mode") == "url":
        url = str(params.get("url") or "")
        if not _is_readable_address(url):
            return None
        message = f"{message}\nIt wants you to open a page at {urlsplit(url).hostname}: {url}"
    return InputRequest(
        "elicitation/create", {**_named(config, _readable(params)), "message": message}
    )


def _sampling(config: ServerConfig, params: JsonObject) -> JsonObject:
    """The request without the context of other servers: no server gets to see that through us."""
    context: JsonObject = {"includeContext": "none"} if "includeContext" in params else {}
    return {**_named(config, _readable(params)), **context}


def _named(config: ServerConfig, params: JsonObject) -> JsonObject:
    """The params with the server's name in `_meta`, for programs."""
    meta = params.get("_meta")
    return {**params, "_meta": {**(meta if _is_object(meta) else {}), SERVER_META_KEY: config.id}}


def _quoted(server: str, message: str) -> str:
    """The message after the server's name; of several lines, each is marked as quoted."""
    lines = show_hidden(message[:LONGEST_MESSAGE].replace("\r\n", "\n")).strip().split("\n")
    if len(lines) == 1:
        return f"MCP server {server!r} asks: {lines[0]}"
    return "\n".join((f"MCP server {server!r} asks:", *(f"> {line}" for line in lines)))


def _readable(params: JsonObject) -> JsonObject:
    return {key: _with_visible(key, value) for key, value in params.items()}


def _with_visible(key: str, value: Json) -> Json:
    """The value with hidden characters made visible in texts that are displayed."""
    if isinstance(value, str):
        return show_hidden(value) if key in _DISPLAYED else value
    if _is_object(value):
        return {each: _with_visible(each, inner) for each, inner in value.items()}
    if isinstance(value, Sequence):
        return [_with_visible(key, each) for each in value]
    return value


def _hides(params: JsonObject) -> bool:
    """Whether the names or the choices of a form have hidden characters."""
    form = params.get("requestedSchema")
    return _hides_in("", form) if form is not None else False


def _hides_in(key: str, value: Json) -> bool:
    if isinstance(value, str):
        return key not in _DISPLAYED and bool(find_hidden(value))
    if _is_object(value):
        return any(find_hidden(each) or _hides_in(each, inner) for each, inner in value.items())
    if isinstance(value, Sequence):
        return any(_hides_in(key, each) for each in value)
    return False


def _is_readable_address(url: str) -> bool:
    """Whether a person sees where an address leads: plain ASCII, https, a host, and no user.

    On this machine http is allowed.
    """
    plain = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if not plain or not 0 < len(url) <= LONGEST_ADDRESS:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname) and "@" not in parts.netloc and not is_plaintext(url)


def _is_object(value: Json) -> TypeGuard[JsonObject]:
    return isinstance(value, Mapping)


class ClientCallbacks:
    """Of one connection, for servers of the handshake.

    The SDK declares a client capability for each callback; see `listing.client_capabilities`.
    """

    def __init__(self, calls: ActiveCalls, config: ServerConfig) -> None:
        self._calls = calls
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
        return reply or sdk.ErrorData(code=SAMPLING_REFUSED, message=NOBODY)

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
        call = self._calls.find()
        if call is None:
            return None
        given: JsonObject = params.model_dump(**sdk.AS_SENT) if params else {}
        request = question_for_caller(self._config, question, given)
        if request is None:
            return None
        replies = await call.ask({QUESTION_KEY: request})
        try:
            return kind.model_validate(replies[QUESTION_KEY])
        except (KeyError, sdk.ValidationError):
            return None
