"""What the agents in this folder share: 200 tools, and a model that plays a script.

To copy an agent, take its file alone. Give it a crib of your own in place of `make_crib()`, and
make its client without a URL in place of `scripted_provider()`.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from toolcrib import Crib
from toolcrib.testing import CallTool, Say, ScriptedModel, SearchTools

SCRIPT = [
    SearchTools("weather forecast"),
    CallTool("get_forecast", {"city": "Oslo", "days": 2}),
    Say("It stays sunny in Oslo."),
]
PROGRAM = """
import asyncio

cities = ["Oslo", "Rome", "Lima"]
found = await asyncio.gather(*[tools.get_forecast(city=each, days=2) for each in cities])
[city for city, forecast in zip(cities, found) if "sunny" in forecast]
"""
CODE_SCRIPT = [
    SearchTools("weather forecast"),
    CallTool("tool_run", {"program": PROGRAM}),
    Say("It is sunny in Oslo, Rome and Lima."),
]


def get_forecast(city: str, days: int = 1) -> str:
    """Tell the weather forecast of a city."""
    return f"sunny in {city} for {days} day(s)"


def current_time() -> str:
    """Tell the time of the day."""
    return "12:00"


def make_crib() -> Crib:
    """A crib with one tool that is always shown, one that is deferred, and many more."""
    crib = Crib()
    crib.add(current_time, permission_kind="read", defer="never")
    crib.add(get_forecast, permission_kind="read")
    for number in range(198):
        crib.add(lambda: "turned", name=f"turn_gear_{number}", description=f"Turn gear {number}")
    return crib


@contextmanager
def scripted_provider(script: Sequence[CallTool | SearchTools | Say] = SCRIPT) -> Generator[str]:
    """The URL of a provider that plays the script; at the end, what each request showed it."""
    with ScriptedModel(script) as model:
        yield model.url
        for request in model.requests:
            print(len(request.body), "bytes, the model sees", ", ".join(request.sees))
