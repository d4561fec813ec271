"""A model on a port of this machine that plays a script, and keeps what it was asked."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import urlsplit

from toolcrib.model import Json, JsonObject
from toolcrib.testing.anthropic import AnthropicApi
from toolcrib.testing.gemini import GeminiApi
from toolcrib.testing.openai_chat import ChatApi
from toolcrib.testing.openai_responses import ResponsesApi
from toolcrib.testing.provider import ApiRefusal, ProviderApi, refuse
from toolcrib.testing.script import SearchTools, Step, Turn, steps_of

PROVIDERS: tuple[Callable[[], ProviderApi], ...] = (AnthropicApi, ResponsesApi, ChatApi, GeminiApi)


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came. `sees`: the tools that the model could call with it, in order."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    sees: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def json(self) -> dict[str, Any]:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What goes back: as JSON, or as a stream of events."""

    status: int
    body: bytes
    kind: str = "application/json"


class ScriptedModel:
    """Plays a script, a turn for each request: for one conversation. A context manager.

    It answers 400, and keeps why in `Request.refusal`, where the real provider would: and where
    the script calls a tool that the model does not see, or has come to its end. A turn that was
    refused is played at the next request. `unknown` are keys and types that no request may have:
    for a gateway that has not heard of them, such as `defer_loading`.
    """

    def __init__(self, turns: Sequence[Turn], *, unknown: Sequence[str] = ()) -> None:
        self.requests: list[Request] = []
        self._unknown = unknown
        self._providers = [make() for make in PROVIDERS]
        self._turns = [steps_of(turn) for turn in turns]
        self._played = 0
        self._lock = Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))

    @property
    def url(self) -> str:
        """Where it listens; SDKs of OpenAI want `/v1` behind it."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def is_over(self) -> bool:
        """Whether the whole script was played."""
        return self._played == len(self._turns)

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> HttpAnswer:
        """What the provider answers; one request at a time."""
        route = urlsplit(path).path
        provider = next((each for each in self._providers if each.is_for(route)), None)
        if provider is None:
            self.requests.append(Request(path, headers, body, refusal="no such path"))
            return HttpAnswer(404, b'{"error": {"message": "no such path"}}')
        with self._lock:
            visible, refusal = (), ""
            try:
                request = _read(body, self._unknown)
                tools = provider.sees(request)
                visible = tuple(tools)
                steps, played = self._next(hosted="hosted" in tools.values())
                reply = provider.reply(request, steps, played)
                streams = provider.streams(route, request)
                answer = _answer(provider, reply, streams=streams)
                self._played = played
            except ApiRefusal as error:
                refusal = str(error)
                answer = HttpAnswer(400, json.dumps(provider.error(refusal)).encode())
            self.requests.append(Request(path, headers, body, visible, refusal))
        return answer

    def _next(self, *, hosted: bool) -> tuple[Sequence[Step], int]:
        """The steps of the next turn, and how many turns are played then.

        After a search by the provider itself the model goes on in the same reply.
        """
        if self.is_over:
            raise ApiRefusal("the script is over")
        steps, played = self._turns[self._played], self._played + 1
        while hosted and isinstance(steps[-1], SearchTools) and played < len(self._turns):
            steps, played = (*steps, *self._turns[played]), played + 1
        return steps, played


def _answer(provider: ProviderApi, reply: JsonObject, *, streams: bool) -> HttpAnswer:
    """The reply, whole or as a stream, as it was asked for."""
    if streams:
        return HttpAnswer(200, b"".join(map(_event, provider.events(reply))), "text/event-stream")
    return HttpAnswer(200, json.dumps(reply).encode())


def _event(event: JsonObject | str) -> bytes:
    """An event of a stream as it stands on the wire."""
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def _read(body: bytes, unknown: Sequence[str]) -> JsonObject:
    try:
        parsed = json.loads(body)
    except ValueError as error:
        raise ApiRefusal(f"the body is no JSON: {error}") from None
    if not isinstance(parsed, dict):
        raise ApiRefusal("the body is no JSON object")
    read = cast("JsonObject", parsed)
    for word in unknown:
        refuse(f"{word}: Extra inputs are not permitted", when=_mentions(read, word))
    return read


def _mentions(value: Json, word: str) -> bool:
    """Whether a word is a key, or the type of something, anywhere in a body."""
    match value:
        case dict():
            inner = value.values()
            if word in value or value.get("type") == word:
                return True
        case list():
            inner = value
        case _:
            return False
    return any(_mentions(each, word) for each in inner)


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            answer = model.answer(self.path, dict(self.headers), body)
            self.send_response(answer.status)
            self.send_header("content-type", answer.kind)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - theirs
            """Say nothing: `requests` has it all."""

    return Handler
