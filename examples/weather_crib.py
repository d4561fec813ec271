"""What the agents in this folder share: 200 tools, and a model that plays a script.

To copy an agent, take its file alone. Give it a crib of your own in place of `make_crib()`, and
make its client without a URL in place of `scripted_provider()`.
"""

from collections.abc import Generator
from contextlib import contextmanager

from toolcrib import Crib
from toolcrib.testing import CallTool, Say, ScriptedModel, SearchTools

SCRIPT = [
    SearchTools("weather forecast"),
    CallTool("get_forecast", {"city": "Oslo", "days": 2}),
    Say("It stays sunny in Oslo."),
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
def scripted_provider() -> Generator[str]:
    """The URL of a provider that plays the script; at the end, what each request showed it."""
    with ScriptedModel(SCRIPT) as model:
        yield model.url
        for request in model.requests:
            print(len(request.body), "bytes, the model sees", ", ".join(request.sees))
