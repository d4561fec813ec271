"""What a running crib lets go, what it exchanges, and who hears of it."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from tests.sources.mcp.faking import FAKE, nothing_left, text
from tests.waiting import until
from tests.workshop import ListedSource
from toolcrib import Crib, Settings, ToolsUpdated
from toolcrib.errors import (
    AmbiguousName,
    ConfigError,
    DeclarationError,
    NameTaken,
    SourceError,
    UnknownTool,
)
from toolcrib.model import ToolInfo

COMMAND = [sys.executable, "-S", str(FAKE)]


@pytest.fixture
def crib() -> Iterator[Crib]:
    with nothing_left(), Crib(Settings(store=":memory:")) as crib:
        yield crib


def weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"sunny in {city}"


def tram(line: int) -> str:
    """Tell when a tram leaves."""
    return f"line {line}"


class Desk:
    def open(self) -> None:
        """Open the desk."""


def called(crib: Crib, name: str, **arguments: Any) -> object:
    outcome = asyncio.run(crib.call(name, arguments))
    return outcome.error.code if outcome.error else outcome.content


def source(*names: str, id: str = "shop") -> ListedSource:
    made = ListedSource(*(ToolInfo(name=each, description=f"Do {each}") for each in names))
    made.id = id
    return made


def cell(code: str) -> Any:
    """What a cell of a notebook defines: the function of `__main__` that its code makes."""
    module = ModuleType("__main__")
    exec(code, module.__dict__)
    return module.__dict__["greet"]


@pytest.mark.parametrize("what", [weather, "weather"], ids=["function", "name"])
def test_a_removed_function_is_found_and_called_no_more(crib: Crib, what: object):
    crib.add(weather, tram, permission_kind="read")
    assert crib.search("weather of a city")[0].name == "weather"
    crib.remove(what)  # type: ignore[arg-type]
    assert "weather" not in {hit.name for hit in crib.search("weather of a city")}
    assert called(crib, "weather", city="Ulm") == "unknown_tool"
    assert called(crib, "tram", line=2) == "line 2"
    crib.add(weather, permission_kind="read")
    assert called(crib, "weather", city="Ulm") == "sunny in Ulm"


def test_a_removed_source_goes_whole_by_itself_or_by_its_id(crib: Crib):
    first, second = source("buy", "sell"), source("lend", id="bank")
    crib.add_source(first, second)
    crib.remove(first)
    assert list(crib.entries()) == ["lend"]
    crib.remove("bank")
    assert not crib.entries()


def test_what_was_not_added_or_names_several_things_is_not_removed(crib: Crib):
    crib.add(weather)
    crib.add_source(source("buy", id="weather"), source("sell"))
    with pytest.raises(AmbiguousName, match="hand over the function or the source"):
        crib.remove("weather")
    with pytest.raises(UnknownTool, match="A tool of a source goes with"):
        crib.remove("shp")
    with pytest.raises(UnknownTool, match="A tool of a source goes with the source"):
        crib.remove("sell")
    assert crib.search("buy")
    with pytest.raises(UnknownTool, match="no function, source or MCP server None was added"):
        crib.remove(None)  # type: ignore[arg-type]
    crib.remove(weather)
    assert sorted(crib.entries()) == ["buy", "sell"]


def test_a_removed_server_ends_and_its_name_is_free(crib: Crib):
    crib.add_mcp("fake", command=COMMAND, permission={"*": "read"})
    crib.add_mcp("left", command=COMMAND)
    asyncio.run(crib.refresh("fake"))
    crib.remove("fake")
    assert not crib.entries()
    with pytest.raises(ConfigError, match="'fake'"):
        crib.offers("fake")
    crib.add_mcp("fake", command=COMMAND, permission={"*": "read"})
    assert text(asyncio.run(crib.call("mcp_fake_echo", {"text": "hi"}))) == "hi"


def test_one_of_several_servers_of_a_mapping_goes_and_the_others_run_on(crib: Crib):
    entry = {"command": COMMAND[0], "args": COMMAND[1:], "permission": {"*": "read"}}
    crib.add_mcp({"a": entry, "b": entry})
    asyncio.run(crib.refresh())
    crib.remove("a")
    assert {entry.source_id for entry in crib.entries().values()} == {"b"}
    assert text(asyncio.run(crib.call("mcp_b_echo", {"text": "hi"}))) == "hi"


def test_a_server_is_replaced_in_one_step(crib: Crib):
    crib.add_mcp("fake", command=COMMAND, permission={"*": "read"})
    asyncio.run(crib.refresh())
    with pytest.raises(ConfigError, match="nearest: fake"):
        crib.replace("fak", command=COMMAND)
    with pytest.raises(NameTaken, match="put this one in its place with `replace`"):
        crib.add_mcp("fake", command=COMMAND)
    crib.replace("fake", command=COMMAND, permission={"*": "dangerous"})
    asyncio.run(crib.refresh())
    assert crib.get("mcp_fake_echo").permission_kind == "dangerous"
    crib.replace({"mcpServers": {"fake": {"command": "there-is-no-such-command"}}})
    (done,) = asyncio.run(crib.refresh())
    assert "cannot be started" in done.error


def test_a_server_of_the_settings_is_for_the_settings(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"ours": {"command": "there-is-no-such-command"}}}')
    with Crib.from_settings(Settings(store=":memory:", mcp_config=[file])) as crib:
        with pytest.raises(ConfigError, match=r"the settings name .*'ours'.*`toolcrib remove`"):
            crib.remove("ours")
        assert crib.offers("ours")


def test_a_function_and_a_source_are_replaced_in_one_step(crib: Crib):
    heard: list[ToolsUpdated] = []
    crib.add(weather, permission_kind="read")
    crib.add_source(source("buy"))
    crib.on_update(heard.append)
    info = crib.replace(tram, name="weather", permission_kind="read")
    assert (info.name, called(crib, "weather", line=3)) == ("weather", "line 3")
    crib.replace(source("sell"))
    assert sorted(crib.entries()) == ["sell", "weather"]
    assert [_names(news) for news in heard] == [([], ["weather"], []), (["sell"], [], ["buy"])]


def test_nothing_is_replaced_by_what_is_wrong_or_has_nothing_to_replace(crib: Crib):
    crib.add(weather)
    crib.add_source(source("buy"))
    broken = source("sell")
    broken.failure = "no list today"
    with pytest.raises(SourceError, match="no list today"):
        crib.replace(broken)
    with pytest.raises(UnknownTool, match="add it with `add_source`"):
        crib.replace(source("sell", id="bank"))
    with pytest.raises(UnknownTool, match="'tram'"):
        crib.replace(tram)
    with pytest.raises(DeclarationError):
        crib.replace(lambda *args: args, name="weather")
    assert sorted(crib.entries()) == ["buy", "weather"]


def test_a_cell_that_is_run_again_exchanges_its_function(crib: Crib):
    crib.add(cell('def greet(who: str) -> str:\n    """Greet."""\n    return "hi " + who'))
    assert crib.get("greet").capability.parameters["required"] == ["who"]  # type: ignore[union-attr]
    crib.add(
        cell('def greet() -> str:\n    """Greet."""\n    return "hello"'), permission_kind="read"
    )
    assert called(crib, "greet") == "hello"


def test_two_functions_of_one_name_are_never_taken_for_one(crib: Crib):
    def made(answer: str) -> Any:
        def inner() -> str:
            """Answer."""
            return answer

        return inner

    crib.add(made("first"), permission_kind="read")
    with pytest.raises(NameTaken):
        crib.add(made("second"))
    one, other = Desk(), Desk()
    crib.add(one.open)
    crib.add(one.open)
    with pytest.raises(NameTaken):
        crib.add(other.open)
    with pytest.raises(NameTaken):
        crib.add(weather, made("third"))
    assert sorted(crib.entries()) == ["inner", "open"]
    assert called(crib, "inner") == "first"


def test_a_listener_hears_what_was_added_changed_and_removed_at_once_until_it_ends(crib: Crib):
    crib.add(weather)
    heard: list[ToolsUpdated] = []
    end = crib.on_update(heard.append)
    assert not heard
    crib.add(tram)
    crib.replace(tram, description="Tell all trams")
    crib.remove(tram)
    assert [_names(news) for news in heard] == [
        (["tram"], [], []),
        ([], ["tram"], []),
        ([], [], ["tram"]),
    ]
    end()
    end()
    crib.add(tram)
    assert len(heard) == 3


def test_a_listener_hears_of_servers_too(crib: Crib):
    came = threading.Event()
    crib.on_update(lambda news: came.set() if "mcp_fake_echo" in _names(news)[0] else None)
    crib.add_mcp("fake", command=COMMAND)
    asyncio.run(crib.refresh())
    assert until(came.is_set)


def test_a_listener_that_raises_breaks_neither_the_crib_nor_the_next(crib: Crib):
    heard: list[ToolsUpdated] = []

    def broken(_news: ToolsUpdated) -> None:
        raise RuntimeError("no room")

    crib.on_update(broken)
    crib.on_update(heard.append)
    crib.add(weather)
    crib.add(tram)
    assert [_names(news)[0] for news in heard] == [["weather"], ["tram"]]
    assert [each for each in crib.problems if "RuntimeError('no room')" in each] == list(
        crib.problems
    )
    assert crib.search("weather of a city")[0].name == "weather"


def test_a_listener_may_use_the_crib(crib: Crib):
    seen: list[object] = []
    crib.on_update(lambda _news: seen.append(sorted(crib.entries())))
    crib.add(weather)
    assert seen == [["weather"]]


def _names(news: ToolsUpdated) -> tuple[list[str], list[str], list[str]]:
    added, changed, removed = (
        [each.name for each in part] for part in (news.added, news.changed, news.removed)
    )
    return added, changed, removed
