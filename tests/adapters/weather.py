"""A crib in which nearly all tools wait for a search, and what reached it."""

import json
import re
from dataclasses import replace

from tests.execute.counting import CountingSource
from tests.workshop import many
from toolcrib import Crib, Settings
from toolcrib.model import Call, JsonObject, Outcome, PrefetchMode, ToolInfo
from toolcrib.settings import SessionSettings

FORECAST = "mcp_weather_get_forecast"
RADAR = "mcp_weather_rain_radar"
NOW = "mcp_weather_current_time"
CITY: JsonObject = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}


def weather(name: str, description: str) -> ToolInfo:
    return ToolInfo(
        name=name,
        description=description,
        permission_kind="read",
        source="mcp",
        source_id="weather",
        parameters=CITY,
    )


class Weather(CountingSource):
    """Two tools that wait, one that is always there, and plenty besides."""

    id = "weather"

    def __init__(self) -> None:
        super().__init__(
            weather("get_forecast", "Tell the weather forecast of a city"),
            weather("rain_radar", "Show where it rains on the radar map"),
            replace(weather("current_time", "Tell the time"), defer="never", parameters={}),
        )
        self.answer = answer


def answer(call: Call) -> Outcome:
    return Outcome(f"sunny in {call.arguments.get('city')}")


class Plenty(CountingSource):
    id = "plenty"

    def __init__(self) -> None:
        tools = (replace(tool, source_id="plenty", permission_kind="read") for tool in many(30))
        super().__init__(*tools)


ONLY_SEARCHED = Settings(store=":memory:", session=SessionSettings(prefetch="off"))
"""The model is shown what it searches for, and nothing else."""


def weather_crib(settings: Settings = ONLY_SEARCHED) -> tuple[Crib, Weather]:
    crib, source = Crib(settings), Weather()
    crib.add_source(source, Plenty())
    return crib, source


def growing_crib() -> tuple[Crib, Weather]:
    """One whose tools wait once a conversation has taken a token; each scripted reply takes two."""
    short = SessionSettings(context_window=100)
    return weather_crib(Settings(store=":memory:", tool_search="conversation:1", session=short))


def raw(body: bytes, key: str) -> str:
    """The text of one member of a body, as it was sent."""
    text, decoder, start = body.decode(), json.JSONDecoder(), 1
    while True:
        name, end = decoder.raw_decode(text, start)
        begin = re.compile(r"\s*:\s*").match(text, end)
        assert begin
        _, end = decoder.raw_decode(text, begin.end())
        if name == key:
            return text[begin.end() : end]
        start = re.compile(r"\s*,\s*").match(text, end).end()  # pyright: ignore[reportOptionalMemberAccess]


def grows(earlier: str, later: str) -> bool:
    """Whether a list was only added to, byte for byte."""
    return earlier == later or later.startswith(earlier.removesuffix("]") + ",")


def prefetching(mode: PrefetchMode = "on") -> tuple[Crib, Weather]:
    """A crib whose sessions prefetch what the user's message names."""
    session = SessionSettings(prefetch=mode)
    return weather_crib(Settings(store=":memory:", session=session))
