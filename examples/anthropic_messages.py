"""A whole agent on Anthropic's Messages API, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[anthropic]' && python examples/anthropic_messages.py

For your own agent, make the client without `base_url` and the session from your own crib.
"""

import asyncio

from anthropic import AsyncAnthropic
from anthropic.types import MessageParam

from toolcrib.adapters.anthropic import AnthropicWire
from weather_crib import make_crib, scripted_provider

MODEL = "claude-opus-5-5"


async def talk(client: AsyncAnthropic, wire: AnthropicWire, messages: list[MessageParam]) -> str:
    """Let the model search and call until it has an answer."""
    while True:
        reply = await client.messages.create(
            model=MODEL, max_tokens=1024, system=wire.system_note(), **wire.request(messages)
        )
        messages.append({"role": "assistant", "content": reply.content})
        results = await wire.results(reply)
        if not results:
            return "".join(block.text for block in reply.content if block.type == "text")
        messages += results


async def main() -> None:
    """Ask about the weather."""
    with scripted_provider() as url:
        async with AsyncAnthropic(base_url=url, api_key="none") as client:
            session = make_crib().session("thread-1")
            # The scripted model stands for the provider itself; else: str(client.base_url)
            wire = AnthropicWire(session, model=MODEL, endpoint="https://api.anthropic.com")
            print(wire.choice)
            question: MessageParam = {"role": "user", "content": "How is the weather in Oslo?"}
            print(await talk(client, wire, [question]))


if __name__ == "__main__":
    asyncio.run(main())
