"""A whole agent of LangChain, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[langchain]' langchain-anthropic && python examples/langchain_agent.py

For your own agent, make the chat model without `base_url` and the middleware with your own crib.
"""

import asyncio

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from toolcrib.adapters.langchain import ToolcribMiddleware
from weather_crib import make_crib, scripted_provider

MODEL = "claude-opus-5-5"


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
    with scripted_provider() as url:
        print(await ask(url, "How is the weather in Oslo?"))


if __name__ == "__main__":
    asyncio.run(main())
