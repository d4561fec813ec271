"""A whole agent on Anthropic's Messages API, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[anthropic]' && python examples/anthropic_messages.py

For a real one, make the client without `base_url` and leave the script out.
"""

import asyncio

from anthropic import AsyncAnthropic
from anthropic.types import MessageParam

from toolcrib import Crib
from toolcrib.adapters.anthropic import AnthropicWire
from toolcrib.testing import CallTool, Say, ScriptedModel, SearchTools

MODEL = "claude-opus-5-5"


def get_forecast(city: str, days: int = 1) -> str:
    """Tell the weather forecast of a city."""
    return f"sunny in {city} for {days} day(s)"


def current_time() -> str:
    """Tell the time of the day."""
    return "12:00"


def make_crib() -> Crib:
    """A crib with one tool that is always shown, one that waits, and many besides."""
    crib = Crib()
    crib.add(current_time, permission_kind="read", defer="never")
    crib.add(get_forecast, permission_kind="read")
    for number in range(198):
        crib.add(lambda: "turned", name=f"turn_gear_{number}", description=f"Turn gear {number}")
    return crib


async def talk(client: AsyncAnthropic, wire: AnthropicWire, messages: list[MessageParam]) -> str:
    """Let the model search and call until it has an answer."""
    while True:
        reply = await client.messages.create(
            model=MODEL, max_tokens=1024, system=wire.system_note(), **wire.request(messages)
        )
        messages.append({"role": "assistant", "content": reply.content})
        results = await wire.results(reply)
        if results is None:
            return "".join(block.text for block in reply.content if block.type == "text")
        messages.append(results)


async def main() -> None:
    """Ask about the weather."""
    script = [
        SearchTools("weather forecast"),
        CallTool("get_forecast", {"city": "Oslo", "days": 2}),
        Say("It stays sunny in Oslo."),
    ]
    with ScriptedModel(script) as model:
        async with AsyncAnthropic(base_url=model.url, api_key="none") as client:
            session = make_crib().session("thread-1")
            # The scripted model stands for the provider itself; else: str(client.base_url)
            wire = AnthropicWire(session, model=MODEL, endpoint="https://api.anthropic.com")
            print(wire.choice)
            question: MessageParam = {"role": "user", "content": "How is the weather in Oslo?"}
            print(await talk(client, wire, [question]))
        for request in model.requests:
            print(len(request.body), "bytes, the model sees", ", ".join(request.sees))


if __name__ == "__main__":
    asyncio.run(main())
