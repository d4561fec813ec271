"""What programs pass to our own functions: a slip is named at once, wherever it is made."""

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from toolcrib import Caller, Crib, Scope, Settings, tool
from toolcrib.errors import ConfigError, DeclarationError


def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city}"


def delete_all() -> str:
    """Delete all that there is."""
    return "all is gone"


@pytest.fixture
def crib() -> Iterator[Crib]:
    with Crib(Settings(store=":memory:", embed={"embedder": "none"})) as opened:
        opened.add(get_weather, delete_all)
        yield opened


LISTS: dict[str, Callable[[Crib], object]] = {
    "Scope(allowed=)": lambda _: Scope(allowed="get_*"),  # pyright: ignore[reportArgumentType]
    "Scope(excluded=)": lambda _: Scope(excluded="delete_all"),  # pyright: ignore[reportArgumentType]
    "Scope(internal=)": lambda _: Scope(internal="delete_all"),  # pyright: ignore[reportArgumentType]
    "Scope(sources=)": lambda _: Scope(sources="mail"),  # pyright: ignore[reportArgumentType]
    "Scope(permissions=)": lambda _: Scope(permissions="read"),  # pyright: ignore[reportArgumentType]
    "Scope(bound=)": lambda _: replace(Scope(), bound="get_weather"),
    "kinds=": lambda crib: crib.search("weather", kinds="tool"),  # pyright: ignore[reportArgumentType]
    "session kinds=": lambda crib: crib.session().search("weather", kinds="tool"),  # pyright: ignore[reportArgumentType]
    "queries=": lambda crib: crib.session().search(queries="weather"),
    "bound=": lambda crib: crib.session(bound="get_weather"),
    "see()": lambda crib: crib.session().see("get_weather"),
    "compacted()": lambda crib: crib.session().compacted("get_weather"),
    "prefetched()": lambda crib: crib.session().prefetched("the weather in Oslo"),
}
FACTS = ("tags", "platforms", "often_with")


@pytest.mark.parametrize("where", LISTS)
def test_one_string_is_not_several(crib: Crib, where: str):
    with pytest.raises(ConfigError, match=r"takes a list, each .*, not '.*'; write \['"):
        LISTS[where](crib)


@pytest.mark.parametrize("fact", FACTS)
def test_one_string_is_not_several_facts_of_a_tool(crib: Crib, fact: str):
    def look() -> None:
        """Look around."""

    facts: Any = {"name": "look_around", fact: "x"}
    message = f"look: {fact}= takes a list, each a string, not 'x'; write ['x']"
    with pytest.raises(DeclarationError, match=re.escape(message)):
        crib.add(look, **facts)
    with pytest.raises(DeclarationError, match=re.escape(message)):
        crib.add(tool(**facts)(look))


def test_a_scope_of_one_string_says_what_to_write():
    with pytest.raises(ConfigError, match=r"Scope\(allowed=\) takes .*; write \['get_\*'\]"):
        Scope(allowed="get_*")  # pyright: ignore[reportArgumentType]


def test_any_list_of_strings_is_a_scope(crib: Crib):
    caller = Caller("ann", Scope(allowed=["get_*"]))  # pyright: ignore[reportArgumentType]
    assert asyncio.run(crib.call("get_weather", {"city": "Oslo"}, caller=caller)).ok
    refused = asyncio.run(crib.call("delete_all", {}, caller=caller)).error
    assert refused
    assert refused.code == "not_allowed"


def test_an_unknown_word_among_several_is_named():
    with pytest.raises(ConfigError, match=r"permissions=.* takes one of read, .*, not 'raed'"):
        Scope(permissions=frozenset({"raed"}))  # pyright: ignore[reportArgumentType]
