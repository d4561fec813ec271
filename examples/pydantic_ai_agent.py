"""A whole agent of pydantic-ai, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[pydantic-ai,openai]' && python examples/pydantic_ai_agent.py

For your own agent, name the model, as in `Agent("openai:gpt-4.1", ...)`, and give it your own crib.
"""

import asyncio

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from toolcrib.adapters.pydantic_ai import ToolcribToolset
from weather_crib import make_crib, scripted_provider

MODEL = "gpt-4.1"


async def ask(url: str, text: str) -> str:
    """Let an agent search and call until it has an answer."""
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
        model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
        agent = Agent(model, toolsets=[ToolcribToolset(make_crib())])
        done = await agent.run(text)
    return done.output


async def main() -> None:
    """Ask about the weather."""
    with scripted_provider() as url:
        print(await ask(url, "How is the weather in Oslo?"))


if __name__ == "__main__":
    asyncio.run(main())
