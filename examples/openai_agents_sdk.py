"""A whole agent of the OpenAI Agents SDK, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[openai-agents]' && python examples/openai_agents_sdk.py

For your own agent, leave `model` out and make the session from your own crib.
"""

import asyncio

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner
from openai import AsyncOpenAI

from toolcrib.adapters.openai_agents import toolcrib_note, toolcrib_tools
from weather_crib import make_crib, scripted_provider

MODEL = "gpt-4.1"


async def ask(url: str, text: str) -> str:
    """Let an agent search and call until it has an answer."""
    session = make_crib().session("thread-1")
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
        agent = Agent(
            name="helper",
            model=OpenAIChatCompletionsModel(MODEL, client),
            instructions=toolcrib_note(session),
            tools=toolcrib_tools(session),
        )
        done = await Runner.run(agent, text, run_config=RunConfig(tracing_disabled=True))
    return done.final_output


async def main() -> None:
    """Ask about the weather."""
    with scripted_provider() as url:
        print(await ask(url, "How is the weather in Oslo?"))


if __name__ == "__main__":
    asyncio.run(main())
