"""A whole agent of LangChain, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[langchain]' langchain-anthropic && python examples/langchain_agent.py

For a real one, make the chat model without a base URL.
"""

import asyncio

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from toolcrib import Crib
from toolcrib.adapters.langchain import ToolcribMiddleware
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


async def ask(url: str, text: str) -> str:
    """Let an agent search and call until it has an answer."""
    agent = create_agent(
        ChatAnthropic(model=MODEL, base_url=url, api_key="none"),
        tools=[],  # tools of your own, if you like; they come first
        middleware=[ToolcribMiddleware(make_crib())],
        checkpointer=InMemorySaver(),
    )
    thread = {"configurable": {"thread_id": "1"}}
    done = await agent.ainvoke({"messages": [HumanMessage(text)]}, thread)
    return done["messages"][-1].text


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
