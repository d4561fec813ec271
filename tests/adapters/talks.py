"""A conversation with a scripted model, driven as a user's program would, on each wire."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

from toolcrib import Crib
from toolcrib.adapters.anthropic import AnthropicWire
from toolcrib.adapters.gemini import GeminiWire
from toolcrib.adapters.openai_chat import ChatWire
from toolcrib.adapters.openai_responses import ResponsesWire
from toolcrib.testing import Request, ScriptedModel

_TALKS = count()


class Talk(ABC):
    """One conversation. `history` is what the program keeps of it, as the SDK's types."""

    key: str
    wire: Any

    def __init__(
        self, crib: Crib, id: str | None, model: ScriptedModel, said: Any, prefetch: str
    ) -> None:
        self.session = crib.session(id, prefetch=prefetch)
        self.model = model
        self.history: list[Any] = []
        self.wire = self.make_wire(said)

    def ask(self, text: str) -> str:
        self.history.append(self.user(text))
        return asyncio.run(self.talk())

    def user(self, text: str) -> Any:
        return {"role": "user", "content": text}

    async def again(self, create: Any, refusal: type[Exception]) -> Any:
        try:
            return await create()
        except refusal as error:
            if not self.wire.refused(error):
                raise
            return await self.again(create, refusal)

    @abstractmethod
    def make_wire(self, said: Any) -> Any: ...

    @abstractmethod
    async def talk(self) -> str: ...

    @staticmethod
    @abstractmethod
    def listed(request: Request) -> list[str]:
        """The names of the tools in a request."""


class AnthropicTalk(Talk):
    key = "messages"
    model_name = "claude-opus-5-5"

    def make_wire(self, said: Any) -> AnthropicWire:
        at: dict[str, Any] = {
            "model": self.model_name,
            "endpoint": "https://api.anthropic.com",
            **said,
        }
        return AnthropicWire(self.session, **at)

    async def talk(self) -> str:
        http = anthropic.DefaultAsyncHttpxClient(verify=False)
        async with anthropic.AsyncAnthropic(
            base_url=self.model.url, api_key="none", max_retries=0, http_client=http
        ) as client:

            def create() -> Any:
                asked = self.wire.request(self.history)
                return client.messages.create(model=self.model_name, max_tokens=100, **asked)

            while True:
                reply = await self.again(create, anthropic.BadRequestError)
                self.history.append({"role": "assistant", "content": reply.content})
                results = await self.wire.results(reply)
                if not results:
                    return "".join(each.text for each in reply.content if each.type == "text")
                self.history += results

    @staticmethod
    def listed(request: Request) -> list[str]:
        return [tool["name"] for tool in request.json.get("tools", [])]


def open_ai(model: ScriptedModel) -> openai.AsyncOpenAI:
    """A client without certificates: they take longer to load than a test to run."""
    http = openai.DefaultAsyncHttpxClient(verify=False)
    url = f"{model.url}/v1"
    return openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, http_client=http)


class ResponsesTalk(Talk):
    key = "input"

    def make_wire(self, said: Any) -> ResponsesWire:
        at: dict[str, Any] = {"model": "gpt-5.5", "endpoint": "https://api.openai.com/v1", **said}
        return ResponsesWire(self.session, **at)

    async def talk(self) -> str:
        async with open_ai(self.model) as client:

            def create() -> Any:
                return client.responses.create(model="gpt-5.5", **self.wire.request(self.history))

            while True:
                reply = await self.again(create, openai.BadRequestError)
                self.history += reply.output
                results = await self.wire.results(reply)
                if not results:
                    return reply.output_text
                self.history += results

    @staticmethod
    def listed(request: Request) -> list[str]:
        return [tool.get("name", tool["type"]) for tool in request.json.get("tools", [])]


class ChatTalk(Talk):
    key = "messages"

    def make_wire(self, said: Any) -> ChatWire:
        return ChatWire(self.session, **said)

    async def talk(self) -> str:
        async with open_ai(self.model) as client:
            while True:
                done = await client.chat.completions.create(
                    model="gpt-4.1", **self.wire.request(self.history)
                )
                self.history.append(done.choices[0].message)
                results = await self.wire.results(done)
                if not results:
                    return done.choices[0].message.content or ""
                self.history += results

    @staticmethod
    def listed(request: Request) -> list[str]:
        return [tool["function"]["name"] for tool in request.json.get("tools", [])]


class GeminiTalk(Talk):
    key = "contents"

    def make_wire(self, said: Any) -> GeminiWire:
        return GeminiWire(self.session, **said)

    def user(self, text: str) -> types.Content:
        return types.Content(role="user", parts=[types.Part(text=text)])

    async def talk(self) -> str:
        plain = {"verify": False}
        options = types.HttpOptions(
            base_url=self.model.url, client_args=plain, async_client_args=plain
        )
        async with genai.Client(api_key="none", http_options=options).aio as client:
            while True:
                reply = await client.models.generate_content(
                    model="gemini-3-pro", **self.wire.request(self.history)
                )
                assert reply.candidates
                self.history.append(reply.candidates[0].content)
                results = await self.wire.results(reply)
                if not results:
                    return reply.text or ""
                self.history += results

    @staticmethod
    def listed(request: Request) -> list[str]:
        tools = request.json.get("tools", [])
        return [each["name"] for tool in tools for each in tool["functionDeclarations"]]


@contextmanager
def talking(
    kind: type[Talk],
    crib: Crib,
    turns: Sequence[Any],
    id: str | None = "one",
    *,
    unknown: Sequence[str] = (),
    prefetch: str = "off",
    **said: Any,
) -> Generator[Any]:
    """A conversation in which the whole script is played.

    The model is shown what it searches for, and nothing else, unless `prefetch` is said.
    """
    own = id and f"{id} {next(_TALKS)}"
    with ScriptedModel(turns, unknown=unknown) as model:
        yield kind(crib, own, model, said, prefetch)
    assert model.is_over


WIRES: dict[str, Any] = {
    "anthropic": partial(talking, AnthropicTalk),
    "anthropic append": partial(talking, AnthropicTalk, mode="append"),
    "anthropic proxy": partial(talking, AnthropicTalk, mode="proxy"),
    "responses": partial(talking, ResponsesTalk),
    "responses inject": partial(talking, ResponsesTalk, mode="inject"),
    "responses append": partial(talking, ResponsesTalk, mode="append"),
    "responses proxy": partial(talking, ResponsesTalk, mode="proxy"),
    "chat": partial(talking, ChatTalk),
    "chat proxy": partial(talking, ChatTalk, mode="proxy"),
    "gemini": partial(talking, GeminiTalk),
    "gemini proxy": partial(talking, GeminiTalk, mode="proxy"),
}
CONSTANT = {"responses", "responses inject"} | {name for name in WIRES if "proxy" in name}
"""The wires on which the tools of a request never change."""

on_every_wire = pytest.mark.parametrize("name", WIRES)
