"""A whole agent on Gemini, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[gemini]' && python examples/gemini.py

For your own agent, make the client without `http_options` and the session from your own crib.
"""

import asyncio

from google import genai
from google.genai import types

from toolcrib.adapters.gemini import GeminiWire
from weather_crib import make_crib, scripted_provider

MODEL = "gemini-3-pro"


async def talk(
    client: genai.client.AsyncClient,
    wire: GeminiWire,
    contents: list[types.Content | types.ContentDict],
) -> str:
    """Let the model search and call until it has an answer."""
    while True:
        reply = await client.models.generate_content(model=MODEL, **wire.request(contents))
        if not reply.candidates or not reply.candidates[0].content:
            raise RuntimeError("the model gave no answer")
        contents.append(reply.candidates[0].content)
        results = await wire.results(reply)
        if not results:
            return reply.text or ""
        contents += results


async def main() -> None:
    """Ask about the weather."""
    with scripted_provider() as url:
        options = types.HttpOptions(base_url=url)
        async with genai.Client(api_key="none", http_options=options).aio as client:
            session = make_crib().session("thread-1")
            note = types.GenerateContentConfig(system_instruction=GeminiWire(session).system_note())
            wire = GeminiWire(session, config=note)
            question: types.ContentDict = {"role": "user", "parts": [{"text": "Weather in Oslo?"}]}
            print(await talk(client, wire, [question]))


if __name__ == "__main__":
    asyncio.run(main())
