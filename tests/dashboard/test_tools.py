"""Tools: the list, one tool, and the map; of a real crib, and as functions of data."""

import json
import re
from collections.abc import Generator
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from tests.dashboard.hostile import BAD, hostile_entry, hostile_list, hostile_map, hostile_tool
from tests.dashboard.test_screens import MOST_PAGE, Elements, view
from tests.embed.hash_embedder import HashEmbedder
from toolcrib.crib import Crib
from toolcrib.dashboard.operations import Overview
from toolcrib.dashboard.screens.tool import tool_data, tool_screen
from toolcrib.dashboard.screens.tools import map_data, tools_screen
from toolcrib.dashboard.tool_catalog import PAGE, ToolCatalog, ToolFilter
from toolcrib.dashboard.tool_map import NEAREST, map_tools, nearest_rows
from toolcrib.model import Event
from toolcrib.settings import Settings
from toolcrib.wiring import opened_events

VIEW = view(Overview(has_gateway=True), path="/tools")


def read_file(path: str) -> str:
    """Read a text file from the disk."""
    return path


def write_file(path: str, text: str) -> None:
    """Write a text to a file on the disk."""


def scan(path: str) -> None:
    """x."""


@pytest.fixture
def crib() -> Generator[Crib]:
    """A crib with vectors, in which one tool is described badly."""
    with Crib(Settings(store=":memory:"), embedder=HashEmbedder()) as crib:
        crib.add(read_file, write_file, scan)
        crib.index.embedded()
        yield crib


@pytest.fixture
def tools(crib: Crib) -> ToolCatalog:
    """The tools of that crib, surveyed."""
    catalog = ToolCatalog(lambda: nullcontext(crib))
    catalog.page(ToolFilter())
    catalog.wait()
    return catalog


def names(tools: ToolCatalog, **asked: str) -> list[str]:
    return [each.name for each in tools.page(ToolFilter(**asked)).rows]


def test_the_list_is_by_name_and_filtered(tools: ToolCatalog):
    source = tools.page(ToolFilter()).sources[0]
    assert names(tools) == ["read_file", "scan", "write_file"]
    assert names(tools, text="DISK text") == ["read_file", "write_file"]
    assert names(tools, source=source) == ["read_file", "scan", "write_file"]
    assert names(tools, source="mcp:none") == []
    assert names(tools, state="ready", text="scan") == ["scan"]
    assert names(tools, state="asleep") == []
    assert "scan" in names(tools, lint="any")
    assert "scan" not in names(tools, lint="clean")
    assert names(tools, after="read_file") == ["scan", "write_file"]


def test_a_long_list_has_pages_and_misses_nothing():
    with Crib(Settings(store=":memory:")) as crib:
        for number in range(2 * PAGE + 3):
            crib.add(read_file, name=f"read_{number:03}", description="Read a file.")
        catalog = ToolCatalog(lambda: nullcontext(crib))
        page = catalog.page(ToolFilter())
        assert page.fitting == page.total == 2 * PAGE + 3
        seen = [each.name for each in page.rows]
        while page.more:
            assert "Next</a>" in str(tools_screen(VIEW, page))
            page = catalog.page(ToolFilter(after=seen[-1]))
            seen += [each.name for each in page.rows]
        assert "Next</a>" not in str(tools_screen(VIEW, page))
        assert seen == sorted(crib.entries())
        catalog.wait()


def test_the_next_page_begins_where_the_room_ended():
    tools = replace(hostile_list(size=PAGE), more=False)
    page = str(tools_screen(VIEW, tools))
    shown = re.findall(r'<th scope="row">', page)
    assert 1 < len(shown) < PAGE
    last = tools.rows[len(shown) - 1].name
    (after,) = re.findall(r'<a class="action" href="/tools\?[^"]*after=([^"]*)"', page)
    assert after.endswith(f"%27x{len(shown) - 1}")
    assert last.endswith(str(len(shown) - 1))


def test_a_tool_has_what_it_says_and_what_is_near_it(tools: ToolCatalog):
    tool = tools.tool("scan")
    assert tool
    assert tool.tokens > 10
    assert [each.name for each in tool.nearest or ()] != []
    assert {each.rule for each in tool.findings or ()} >= {"short-description"}
    text = Elements(str(tool_screen(VIEW, tool))).text
    for words in ("short-description", "Nearest in meaning", "nothing is logged", '"path"'):
        assert words in text
    assert tools.tool("nix") is None
    assert "No such tool" in str(tool_screen(VIEW, None))


def test_use_is_of_the_last_days(tmp_path):
    settings = Settings(store=str(tmp_path / "catalog.db"))
    assert settings.events_path
    pinned, now = {"pin": "x"}, 1_800_000_000.0
    with opened_events(settings, make=True) as log:
        assert log
        log.write(
            [
                Event(now - 60 * 24 * 3_600, "call", name="scan", seconds=9.0, facts=pinned),
                Event(now, "call", name="scan", seconds=1.0, facts=pinned),
                Event(now, "call", name="scan", seconds=3.0, code="tool_failed", facts=pinned),
                Event(now, "call", name="read_file", facts=pinned),
            ]
        )
    with Crib(settings) as crib:
        crib.add(scan)
        catalog = ToolCatalog(lambda: nullcontext(crib), now=lambda: now)
        tool = catalog.tool("scan")
        assert tool
        assert tool.use == (2, 1, 4.0)
        words = "called 2 times in 30 days, 1 failed, 2.0 s on average"
        assert words in Elements(str(tool_screen(VIEW, tool))).text
        catalog.wait()


def test_tools_are_surveyed_once_for_each_state_of_them(crib: Crib, tools: ToolCatalog):
    first = tools.map().map
    assert first
    assert tools.map().map is first
    crib.add(read_file, name="another")
    assert tools.map().map is None
    tools.wait()
    drawn = tools.map()
    assert drawn.map
    assert "another" in drawn.map.names


def test_the_nearest_are_the_nearest():
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(1_500, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    nearest, cosines = nearest_rows(rows, 5)
    for row in (0, 1_023, 1_024, 1_499):
        products = rows @ rows[row]
        products[row] = -2
        assert list(nearest[row]) == list(np.argsort(-products)[:5])
        assert cosines[row] == pytest.approx(np.sort(products)[::-1][:5])


def test_what_means_alike_lies_together_on_the_map():
    chance = np.random.default_rng(2)
    centres = np.eye(3, 16)
    rows = np.repeat(centres, 30, axis=0) + chance.normal(0, 0.05, (90, 16))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    names = [f"t{number}" for number in range(90)]
    drawn = map_tools(names, rows)
    assert drawn.places.min() >= 0
    assert drawn.places.max() <= 1
    groups = drawn.places.reshape(3, 30, 2)
    spread = max(group.std(axis=0).max() for group in groups)
    middles = groups.mean(axis=1)
    apart = min(np.linalg.norm(middles[a] - middles[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    assert apart > 3 * spread
    again = map_tools(names, rows)
    assert np.array_equal(again.places, drawn.places)
    assert len(drawn.neighbours("t5")) == NEAREST
    assert drawn.neighbours("none") == []


@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_few_tools_make_a_small_map(size: int):
    rows = np.eye(size, 8, dtype=np.float32)
    drawn = map_tools([str(number) for number in range(size)], rows)
    assert drawn.places.shape == (size, 2)
    assert np.isfinite(drawn.places).all()
    assert all(len(drawn.neighbours(name)) == max(size - 1, 0) for name in drawn.names)


@pytest.mark.plan(95)
def test_what_a_script_is_told_is_spelt_out():
    for data in (map_data(hostile_map()), tool_data(hostile_tool())):
        text = json.dumps(data, ensure_ascii=False)
        assert "⟨U+202E⟩" in text
        assert not set("\u202e\u200b\u2066\x1b\x00\u2028") & set(text)
    told = tool_data(hostile_tool())
    assert str(told["address"]).startswith("/tool?name=")


def test_pages_of_tools_stay_small_whatever_they_say():
    long = BAD * 200
    tool = replace(hostile_tool(), entry=hostile_entry(long))
    assert len(str(tool_screen(VIEW, tool)).encode()) < MOST_PAGE
    sources = tuple(f"{BAD}{number}" for number in range(500))
    tools = replace(hostile_list(size=300), sources=sources)
    assert len(str(tools_screen(VIEW, tools)).encode()) < MOST_PAGE
