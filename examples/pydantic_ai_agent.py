"""A whole agent of pydantic-ai, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[pydantic-ai,openai]' && python examples/pydantic_ai_agent.py

For a real one, name the model, as in `Agent("openai:gpt-4.1", ...)`.
"""

import asyncio

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from toolcrib import Crib
from toolcrib.adapters.pydantic_ai import ToolcribToolset
from toolcrib.testing import CallTool, Say, ScriptedModel, SearchTools

MODEL = "gpt-4.1"


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


async def ask(url: str, text: str) -> str:
    """Let an agent search and call until it has an answer."""
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
        model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
        agent = Agent(model, toolsets=[ToolcribToolset(make_crib())])
        done = await agent.run(text)
    return done.output


async def main() -> None:
    """Ask about the weather."""
    script = [
        SearchTools("weather forecast"),
        CallTool("get_forecast", {"city": "Oslo", "days": 2}),
        Say("It stays sunny in Oslo."),
    ]
    with ScriptedModel(script) as model:
        print(await ask(model.url, "How is the weather in Oslo?"))
        for request in model.requests:
            print(len(request.body), "bytes, the model sees", ", ".join(request.sees))


if __name__ == "__main__":
    asyncio.run(main())
