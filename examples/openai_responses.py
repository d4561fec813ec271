"""A whole agent on OpenAI's Responses API, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[openai]' && python examples/openai_responses.py

For a real one, make the client without a base URL and leave the script out.
"""

import asyncio

from openai import AsyncOpenAI

from toolcrib import Crib
from toolcrib.adapters.openai_responses import Item, ResponsesWire
from toolcrib.testing import CallTool, Say, ScriptedModel, SearchTools

MODEL = "gpt-5.5"


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


async def talk(client: AsyncOpenAI, wire: ResponsesWire, items: list[Item]) -> str:
    """Let the model search and call until it has an answer."""
    while True:
        reply = await client.responses.create(
            model=MODEL, instructions=wire.system_note(), **wire.request(items)
        )
        items += reply.output
        results = await wire.results(reply)
        if not results:
            return reply.output_text
        items += results


async def main() -> None:
    """Ask about the weather."""
    script = [
        SearchTools("weather forecast"),
        CallTool("get_forecast", {"city": "Oslo", "days": 2}),
        Say("It stays sunny in Oslo."),
    ]
    with ScriptedModel(script) as model:
        async with AsyncOpenAI(base_url=f"{model.url}/v1", api_key="none") as client:
            session = make_crib().session("thread-1")
            # The scripted model stands for the provider itself; else: str(client.base_url)
            wire = ResponsesWire(session, model=MODEL, endpoint="https://api.openai.com")
            print(wire.choice)
            question: Item = {"role": "user", "content": "Weather in Oslo?"}
            print(await talk(client, wire, [question]))
        for request in model.requests:
            print(len(request.body), "bytes, the model sees", ", ".join(request.sees))


if __name__ == "__main__":
    asyncio.run(main())
