"""A whole agent on Gemini, with 200 tools of which the model sees two.

Runs offline, with a scripted model in place of the provider:

    pip install 'toolcrib[gemini]' && python examples/gemini.py

For a real one, make the client without a base URL and leave the script out.
"""

import asyncio

from google import genai
from google.genai import types

from toolcrib import Crib
from toolcrib.adapters.gemini import GeminiWire
from toolcrib.testing import CallTool, Say, ScriptedModel, SearchTools

MODEL = "gemini-3-pro"


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
        if results is None:
            return reply.text or ""
        contents.append(results)


async def main() -> None:
    """Ask about the weather."""
    script = [
        SearchTools("weather forecast"),
        CallTool("get_forecast", {"city": "Oslo", "days": 2}),
        Say("It stays sunny in Oslo."),
    ]
    with ScriptedModel(script) as model:
        options = types.HttpOptions(base_url=model.url)
        async with genai.Client(api_key="none", http_options=options).aio as client:
            session = make_crib().session("thread-1")
            note = types.GenerateContentConfig(system_instruction=GeminiWire(session).system_note())
            wire = GeminiWire(session, config=note)
            question: types.ContentDict = {"role": "user", "parts": [{"text": "Weather in Oslo?"}]}
            print(await talk(client, wire, [question]))
        for request in model.requests:
            print(len(request.body), "bytes, the model sees", ", ".join(request.sees))


if __name__ == "__main__":
    asyncio.run(main())
