"""An agent on Anthropic's Messages API whose model writes programs that call tools.

The model sees three tools of 202: one that is always shown, `tool_search` and `tool_run`.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[anthropic,code]' && python examples/anthropic_programs.py

For your own agent, make the client without `base_url` and the session from your own crib.
"""

import asyncio

from anthropic import AsyncAnthropic
from anthropic.types import MessageParam

from toolcrib.adapters.anthropic import AnthropicWire
from weather_crib import CODE_SCRIPT, make_crib, scripted_provider

MODEL = "claude-opus-5-5"


async def talk(client: AsyncAnthropic, wire: AnthropicWire, messages: list[MessageParam]) -> str:
    """Let the model search and run programs until it has an answer."""
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
    """Ask about the weather in three cities."""
    with scripted_provider(CODE_SCRIPT) as url:
        async with AsyncAnthropic(base_url=url, api_key="none") as client:
            session = make_crib().session("thread-1", style="code")
            # The scripted model stands for the provider itself; else: str(client.base_url)
            wire = AnthropicWire(session, model=MODEL, endpoint="https://api.anthropic.com")
            print(wire.choice)
            question: MessageParam = {
                "role": "user",
                "content": "Is it sunny in Oslo, Rome, Lima?",
            }
            print(await talk(client, wire, [question]))


if __name__ == "__main__":
    asyncio.run(main())
