"""A whole agent on Chat Completions, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[openai]' && python examples/openai_chat.py

For your own agent, make the client without `base_url` and the session from your own crib.
"""

import asyncio

from openai import AsyncOpenAI

from toolcrib.adapters.openai_chat import ChatMessage, ChatWire
from weather_crib import make_crib, scripted_provider

MODEL = "gpt-4.1"


async def talk(client: AsyncOpenAI, wire: ChatWire, messages: list[ChatMessage]) -> str:
    """Let the model search and call until it has an answer."""
    while True:
        done = await client.chat.completions.create(model=MODEL, **wire.request(messages))
        message = done.choices[0].message
        messages.append(message)
        results = await wire.results(done)
        if not results:
            return message.content or ""
        messages += results


async def main() -> None:
    """Ask about the weather."""
    with scripted_provider() as url:
        async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
            session = make_crib().session("thread-1")
            wire = ChatWire(session)  # or mode="proxy", where `tools` has to stay as it is
            conversation: list[ChatMessage] = [
                {"role": "system", "content": wire.system_note()},
                {"role": "user", "content": "How is the weather in Oslo?"},
            ]
            print(await talk(client, wire, conversation))


if __name__ == "__main__":
    asyncio.run(main())
