"""An agent on OpenAI's Responses API whose model writes programs that call tools.

The model sees three tools of 202: one that is always shown, `tool_search` and `tool_run`.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[openai,code]' && python examples/openai_programs.py

For your own agent, make the client without `base_url` and the session from your own crib.
"""

import asyncio

from openai import AsyncOpenAI

from toolcrib.adapters.openai_responses import Item, ResponsesWire
from weather_crib import CODE_SCRIPT, make_crib, scripted_provider

MODEL = "gpt-5.5"


async def talk(client: AsyncOpenAI, wire: ResponsesWire, items: list[Item]) -> str:
    """Let the model search and run programs until it has an answer."""
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
    """Ask about the weather in three cities."""
    with scripted_provider(CODE_SCRIPT) as url:
        async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
            session = make_crib().session("thread-1", style="code")
            # The scripted model stands for the provider itself; else: str(client.base_url)
            wire = ResponsesWire(session, model=MODEL, endpoint="https://api.openai.com")
            print(wire.choice)
            question: Item = {"role": "user", "content": "Is it sunny in Oslo, Rome, Lima?"}
            print(await talk(client, wire, [question]))


if __name__ == "__main__":
    asyncio.run(main())
