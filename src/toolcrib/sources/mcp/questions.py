"""What a server asks in the middle of a call, as whoever made the call gets to see it.

A client shows a question as its own server's words, which is us. So it says whose it is, nothing in
it is hidden, what is not allowed is not asked, and a page to open is one that can be told by its
address.
"""

from collections.abc import Mapping, Sequence
from typing import TypeGuard
from urllib.parse import urlsplit

from toolcrib.model import InputMethod, InputRequest, Json, JsonObject
from toolcrib.sources.mcp.clear_text import in_the_clear
from toolcrib.sources.mcp.server import ServerConfig
from toolcrib.text.hidden import find_hidden, show_hidden

LONGEST_MESSAGE = 4_000
LONGEST_ADDRESS = 2_000
SERVER = "toolcrib/server"
_DISPLAYED = frozenset({"title", "description", "enumNames", "text", "systemPrompt"})
"""The keys of what is for reading. All else comes back to the server, and stays as it is."""


def forwarded(
    config: ServerConfig, question: InputMethod, params: JsonObject
) -> InputRequest | None:
    """The question in the server's name; None if it is not to be asked.

    It is not where the operator has switched that off, or where something is hidden in what the
    reply would repeat.
    """
    if question == "roots/list":
        return InputRequest(question, params)
    if question == "sampling/createMessage":
        return InputRequest(question, _sampling(config, params)) if config.sampling else None
    if not config.elicitation or _hides(params):
        return None
    return _elicitation(config, params)


def _elicitation(config: ServerConfig, params: JsonObject) -> InputRequest | None:
    said = _quoted(config.id, str(params.get("message") or ""))
    if params.get("mode") == "url":
        url = str(params.get("url") or "")
        if not _can_be_told(url):
            return None
        said = f"{said}\nIt wants you to open a page at {urlsplit(url).hostname}: {url}"
    return InputRequest(
        "elicitation/create", {**_named(config, _readable(params)), "message": said}
    )


def _sampling(config: ServerConfig, params: JsonObject) -> JsonObject:
    """The request without what others have said: no server gets to see that through us."""
    alone: JsonObject = {"includeContext": "none"} if "includeContext" in params else {}
    return {**_named(config, _readable(params)), **alone}


def _named(config: ServerConfig, params: JsonObject) -> JsonObject:
    """The same with the server's name for programs, beside what it says there itself."""
    meta = params.get("_meta")
    return {**params, "_meta": {**(meta if _is_object(meta) else {}), SERVER: config.id}}


def _quoted(server: str, message: str) -> str:
    """The message with whose it is; one of several lines is marked on each of them."""
    lines = show_hidden(message[:LONGEST_MESSAGE].replace("\r\n", "\n")).strip().split("\n")
    if len(lines) == 1:
        return f"MCP server {server!r} asks: {lines[0]}"
    return "\n".join((f"MCP server {server!r} asks:", *(f"> {line}" for line in lines)))


def _readable(params: JsonObject) -> JsonObject:
    return {key: _spelt(key, value) for key, value in params.items()}


def _spelt(key: str, value: Json) -> Json:
    """The value with what is hidden in texts for reading spelt out."""
    if isinstance(value, str):
        return show_hidden(value) if key in _DISPLAYED else value
    if _is_object(value):
        return {each: _spelt(each, inner) for each, inner in value.items()}
    if isinstance(value, Sequence):
        return [_spelt(key, each) for each in value]
    return value


def _hides(params: JsonObject) -> bool:
    """Whether something is hidden in the names or the choices of a form."""
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


def _can_be_told(url: str) -> bool:
    """Whether a person sees where an address leads: plain ASCII, https, a host, and no user.

    http will do on this machine.
    """
    plain = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if not plain or not 0 < len(url) <= LONGEST_ADDRESS:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname) and "@" not in parts.netloc and not in_the_clear(url)


def _is_object(value: Json) -> TypeGuard[JsonObject]:
    return isinstance(value, Mapping)
