"""A crib with the tools of a server, `shop`, that keeps every call which reaches it."""

import asyncio
from collections.abc import Callable, Generator

import pytest

from tests.execute.counting import CountingSource, offered
from toolcrib import Crib, ProgramOutcome, Settings
from toolcrib.model import Json, JsonObject, Outcome

QUIET = {
    "store": ":memory:",
    "plugins": False,
    "embed": {"embedder": "none"},
    "approval": {"rules": [{"verdict": "allow", "pattern": "shop/sell"}]},
}

Run = Callable[..., ProgramOutcome]


def takes(**properties: Json) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(properties)}


TEXT: JsonObject = {"type": "string"}
NUMBER: JsonObject = {"type": "integer"}


def made_shop() -> CountingSource:
    return CountingSource(
        offered("look", schema=takes(at=NUMBER)),
        offered("sell", "write", schema=takes(what=TEXT)),
        offered("list-all", schema=takes()),
    )


@pytest.fixture(scope="module")
def stocked() -> Generator[tuple[Crib, CountingSource]]:
    """One for all tests of a file: to start a sandbox takes longer than most of them."""
    shop = made_shop()
    with Crib(Settings(**QUIET)) as crib:
        crib.add_source(shop)
        yield crib, shop


@pytest.fixture
def crib(stocked: tuple[Crib, CountingSource]) -> Crib:
    return stocked[0]


@pytest.fixture
def shop(stocked: tuple[Crib, CountingSource]) -> CountingSource:
    shop = stocked[1]
    shop.reached.clear()
    shop.states.clear()
    shop.answer = lambda call: Outcome({"at": call.arguments.get("at"), "price": 7})
    return shop


@pytest.fixture
def run(crib: Crib, shop: CountingSource) -> Run:
    return lambda program, **how: asyncio.run(crib.run(program, **how))
