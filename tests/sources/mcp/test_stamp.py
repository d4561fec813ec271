"""Stamps: a listing that was kept is not read again, and nothing is trusted more for that."""

import asyncio
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.sources.mcp.faking import stores_in
from tests.waiting import until
from toolcrib.errors import UnknownTool
from toolcrib.model import Call, CallContext, Deadline
from toolcrib.review.desk import write_approval, write_rejection
from toolcrib.sources import IncrementalSource, StampedSource, definition
from toolcrib.sources.mcp import (
    McpServers,
    McpSource,
    ServerAddress,
    ServerCommand,
    ServerConfig,
    ServerConfigs,
)
from toolcrib.sources.mcp import source as source_module
from toolcrib.sources.mcp.config.server import UNNOTICED
from toolcrib.sources.mcp.identity import ServerIdentity
from toolcrib.sources.mcp.lifecycle import cache as cache_module
from toolcrib.sources.mcp.lifecycle.cache import MOST_LOADED
from toolcrib.sources.mcp.listing import KnownServer, ServerFacts, ServerIntroduction, ServerListing
from toolcrib.sources.mcp.outcome import StartFailed
from toolcrib.sources.mcp.summary import TOOLS_FORMAT
from toolcrib.sources.mcp.tool_definitions import ToolDefinitions, define_tools
from toolcrib.sources.mcp.trust import ServerTrust
from toolcrib.strict_json import json_digest

TOOLS = tuple(
    {
        "name": name,
        "title": name.title(),
        "description": f"Does {name}",
        "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}},
        "annotations": {"readOnlyHint": True},
    }
    for name in ("read", "list", "search")
)
FACTS = ServerFacts("2025-11-25", info={"title": "Git"}, instructions="For git.")
HELLO = ServerIntroduction(FACTS, ServerListing(TOOLS, offers={"prompts": ({"name": "p"},)}))


class Home:
    """A state folder, opened as often as one likes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: list[McpServers] = []

    def sources(self, *configs: ServerConfig) -> tuple[McpSource, ...]:
        servers = McpServers(stores_in(self.folder))
        servers.take(ServerConfigs(configs, ()))
        assert servers.problems == ()
        self._open.append(servers)
        return servers.sources

    def source(self, **fields: Any) -> McpSource:
        return self.sources(config(**fields))[0]

    def listed(self, *configs: ServerConfig) -> None:
        """Each server is listed once, and what it lists is trusted."""
        for source in self.sources(*configs):
            source._memory.keep(HELLO, 0.5)

    def tamper(self, statement: str) -> None:
        db = apsw.Connection(str(self.folder / "decisions.db"))
        db.execute(statement)
        db.close()

    def close(self) -> None:
        for each in self._open:
            each.close()


def config(id: str = "git", **fields: Any) -> ServerConfig:
    return ServerConfig(id, ServerCommand("git-mcp"), **fields)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    home = Home(tmp_path / "state")
    yield home
    home.close()


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The listings that were parsed."""
    seen: list[bytes] = []
    parse = cache_module._known
    monkeypatch.setattr(
        cache_module, "_known", lambda stored: seen.append(stored.body) or parse(stored)
    )
    return seen


def adopted(home: Home, **fields: Any) -> McpSource:
    """A source that goes on with what another process has kept."""
    home.listed(config(**fields))
    earlier = home.source(**fields)
    kept = earlier.stamp(), earlier.summary()
    source = home.source(**fields)
    assert source.stamp() == kept[0] != ""
    source.adopt(kept[1])
    return source


def test_a_warm_start_parses_no_listing(home: Home, parsed: list[bytes]):
    every = [config(f"s{number}") for number in range(20)]
    home.listed(*every)
    kept = [(each.stamp(), each.summary()) for each in home.sources(*every)]
    parsed.clear()
    for source, (stamp, summary) in zip(home.sources(*every), kept, strict=True):
        assert isinstance(source, StampedSource)
        assert source.stamp() == stamp != ""
        source.adopt(summary)
        source.watch(lambda: None)
        assert source.state_of_all() == "asleep"
        assert source.problems == ()
        status = source.status()
        assert (status.tools, status.waiting, status.start_s) == (3, 0, 0.5)
        assert status.protocol == "2025-11-25"
        assert status.seen > 0
        assert source.offers.kinds() == {"prompts"}
        assert source.offers.listed("resources") == ()
        assert not source.is_unknown
    assert parsed == []


def test_what_is_asked_for_is_read_when_it_is_asked_for(home: Home, parsed: list[bytes]):
    source = adopted(home)
    parsed.clear()
    assert [each.name for each in source.capabilities()] == ["read", "list", "search"]
    assert source.state("list") == "asleep"
    assert [each.key for each in source.offers.listed("prompts")] == ["p"]
    assert source.judge().tools.keys() == {"read", "list", "search"}
    assert len(parsed) == 1


def test_what_was_only_read_is_let_go(home: Home):
    every = [config(f"s{number}") for number in range(3 * MOST_LOADED)]
    home.listed(*every)
    sources = home.sources(*every)
    sources[0]._memory.use(up=True)
    for source in sources:
        assert len(source.capabilities()) == 3
    loaded = [each.server for each in sources if each._memory._loaded]
    assert len(loaded) <= MOST_LOADED + 1
    assert "s0" in loaded  # it runs
    assert [len(each.capabilities()) for each in sources] == [3] * len(sources)
    sources[0]._memory.use(up=False)
    for source in sources[1:]:
        source.capabilities()
    assert sources[0]._memory._loaded is None


def test_what_could_not_be_written_is_not_let_go(home: Home):
    source = home.source()
    home.folder.joinpath("mcp").write_text("no folder")
    source._memory.keep(HELLO, 0.5)
    source._memory.let_go()
    assert len(source.capabilities()) == 3
    assert source.stamp() == ""


def test_the_stamp_is_the_same_while_the_server_lists_the_same(home: Home):
    stamp = adopted(home).stamp()
    source = home.source()
    source._memory.keep(HELLO, 0.7)  # started again
    assert source.stamp() == stamp
    assert source.status().start_s == 0.7
    assert home.source().stamp() == stamp
    assert home.source().status().start_s == 0.7


CHANGES: dict[str, Any] = {
    "prefix": "g",
    "disabled": True,
    "permission": (("*", "dangerous"),),
    "defer": "always",
    "always_load": ("*",),
    "enabled_tools": ("read",),
    "disabled_tools": ("read",),
    "believe_annotations": False,
}
SAME: dict[str, Any] = {"idle_timeout_s": 1.0, "call_timeout_s": 1.0, "description": "x"}


@pytest.mark.parametrize("field", CHANGES)
def test_another_configuration_of_its_tools_is_another_stamp(home: Home, field: str):
    before = adopted(home)
    after = home.source(**{field: CHANGES[field]})
    assert tuple(after.capabilities()) != tuple(before.capabilities()) or field == "prefix"
    assert after.stamp() not in ("", before.stamp())


def test_every_setting_that_a_running_server_does_not_notice_is_looked_at(home: Home):
    assert set(UNNOTICED) <= CHANGES.keys() | SAME.keys()
    before = adopted(home, is_own=True)
    for field, value in SAME.items():
        after = home.source(is_own=True, **{field: value})
        assert after.capabilities() == before.capabilities()
        assert after.stamp() == before.stamp()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"args": ("--test",)}, {"args": ("--live",)}),
        ({"env": {"ACCOUNT": "test"}}, {"env": {"ACCOUNT": "live"}}),
        ({"url": "http://x", "headers": {"X-Account": "1"}}, {"url": "http://x", "headers": {}}),
        ({}, {}),
    ],
)
def test_no_right_to_a_tool_of_one_entry_is_one_to_that_of_another(home: Home, one, other):
    every = [
        ServerConfig(
            id, ServerAddress(**how) if "url" in how else ServerCommand("bank", **how), is_own=True
        )
        for id, how in (("test", one), ("live", other), ("test", other))
    ]
    home.listed(*every[:2])
    test, live = home.sources(*every[:2])
    edited = home.sources(every[2])[0]
    pins = [{each.name: each.pin for each in source.capabilities()} for source in (test, live)]
    assert pins[0]["read"] != pins[1]["read"]
    assert [pins[0]] == [{e.name: e.pin for e in home.sources(every[0])[0].capabilities()}]
    if one != other:
        edited._memory.keep(HELLO, 0.5)
        assert edited.state("read") != "changed"  # the program is the same: nothing waits
        assert {e.name: e.pin for e in edited.capabilities()} != pins[0]
        call = Call("read", {}, pin=pins[0]["read"])
        with pytest.raises(StartFailed, match="another definition"):
            edited._memory.check(call)


def test_another_program_is_another_stamp(home: Home):
    stamp = adopted(home).stamp()
    other = replace(config(), transport=ServerCommand("evil-mcp"))
    (source,) = home.sources(other)
    assert source.stamp() not in ("", stamp)
    source._memory.keep(HELLO, 0.5)
    assert {source.state(str(each["name"])) for each in TOOLS} == {"changed"}


def test_another_listing_is_another_stamp(home: Home):
    stamp = adopted(home).stamp()
    source = home.source()
    changed = ServerListing((*TOOLS[:2], {**TOOLS[2], "description": "Obey"}))
    assert source._memory.keep_listing(changed)
    assert source.stamp() not in ("", stamp)
    assert source.status().waiting == 1
    assert home.source().stamp() == source.stamp()


def test_a_decision_is_another_stamp_in_every_process(home: Home, parsed: list[bytes]):
    source = adopted(home)
    before = source.stamp()
    other = home.source()
    judged = other.judge().tools["read"]
    decisions = home._open[-1].decisions
    assert decisions
    write_rejection(decisions, other.trust.source, "read", judged.pin, judged.listed.written())
    parsed.clear()
    assert source.stamp() not in ("", before)
    assert source.status().tools == 2  # read again, as the summary holds no longer
    assert len(parsed) == 1
    write_approval(decisions, other.trust.source, "read", judged.pin, judged.listed.written())
    assert source.status().tools == 3


def test_a_summary_of_another_version_is_not_taken(home: Home, parsed: list[bytes]):
    home.listed(config())
    source = home.source()
    parsed.clear()
    for summary in (
        {},
        {"format": 0},
        {"format": 1},
        {**source.summary(), "tools": 9, "format": 2},
    ):
        again = home.source()
        assert again.stamp()
        again.adopt(summary)
        assert again.status().tools == 3


def refused(source: McpSource, name: str, pin: str = "") -> str:
    """How a call fails, before anything is started."""

    async def run() -> str:
        try:
            call = Call(name, {}, pin=pin)
            outcome = await source.call(call, CallContext(Deadline(5)))
        except UnknownTool as error:
            return type(error).__name__
        assert outcome.error
        return outcome.error.code

    return asyncio.run(run())


@pytest.mark.plan(4)
def test_who_alters_a_decision_gains_nothing_by_what_was_kept(home: Home):
    source = adopted(home)
    home.tamper("UPDATE decision SET definition = 'evil' WHERE name = 'read'")
    assert source.stamp()  # the seals are whole, so what was kept under them is what was decided
    with pytest.raises(Exception, match="not as it was approved"):
        source._memory.check(Call("read", {}))
    again = home.source()
    assert {again.state(str(each["name"])) for each in TOOLS} == {"unreviewed"}
    assert "nothing is approved" in again.problems[0]


@pytest.mark.plan(4)
@pytest.mark.parametrize(
    "statement", ["DELETE FROM source", "UPDATE source SET seal = x'00'", "DELETE FROM whole"]
)
def test_without_whole_seals_there_is_no_stamp(home: Home, statement: str):
    source = adopted(home)
    home.tamper(statement)
    assert source.stamp() == ""
    assert "nothing is approved" in source.problems[0]
    assert {source.state(each.name) for each in source.capabilities()} <= {"unreviewed"}


@pytest.mark.plan(4)
def test_who_alters_a_listing_gains_nothing(home: Home):
    """With the old head, the file is damaged; with a new one, the tool is not the approved one."""
    source = adopted(home)
    path = next((home.folder / "mcp").glob("*.json"))
    good = path.read_bytes()
    path.write_bytes(good.replace(b"Does read", b"Does evil"))
    assert source.stamp()
    told: list[int] = []
    source.watch(lambda: told.append(1))
    assert refused(source, "read") == "UnknownTool"
    assert "cannot be used" in " ".join(source.problems)
    assert path.with_suffix(".bad").exists()

    again = adopted(home)
    entry = json.loads(good)["entry"]
    entry["listing"]["tools"][0]["description"] = "Does evil"
    body = json.dumps(entry).encode()
    forged = b'{"checksum":"%s","entry":%s}\n'
    path.write_bytes(forged % (hashlib.sha256(body).hexdigest().encode(), body))
    assert again.stamp() not in ("", source.stamp())
    assert again.state("read") == "changed"
    with pytest.raises(Exception, match="not as it was approved"):
        again._memory.check(Call("read", {}))


def test_whoever_still_shows_what_is_gone_is_told(home: Home):
    source = adopted(home)
    next((home.folder / "mcp").glob("*.json")).unlink()
    told: list[int] = []
    source.watch(lambda: told.append(1))
    assert refused(source, "read") == "UnknownTool"
    until(lambda: told)


def test_one_changed_tool_is_hashed_scanned_and_made_once(
    home: Home, monkeypatch: pytest.MonkeyPatch
):
    scanned: list[str] = []
    scan = definition.hidden_tricks

    def count(tool: dict[str, str], *texts: str) -> tuple[str, ...]:
        scanned.append(tool["name"])
        return scan(tool, *texts)

    monkeypatch.setattr(definition, "hidden_tricks", count)
    home.listed(config())
    source = home.source()
    before = {each.name: each for each in source.capabilities()}
    scanned.clear()
    changed = ServerListing((*map(dict, TOOLS[:2]), {**TOOLS[2], "description": "Better"}))
    assert source._memory.keep_listing(changed)
    after = {each.name: each for each in source.capabilities()}
    assert scanned == ["search"] * 2  # as it is listed, and as it was approved
    assert after["read"] is before["read"]
    assert after["list"] is before["list"]
    known = source._memory.known
    assert known
    old, new = known.listing.tools[:2], source.judge().tools
    assert old[0] is new["read"].listed.tool  # not held twice


def test_the_format_of_stamps_is_another_one_when_tools_become_others():
    """If this fails, a listing has become other tools: give `TOOLS_FORMAT` the next number."""
    server = config(trust="open")
    trust = ServerTrust(server, None, ServerIdentity("h"))  # type: ignore[arg-type] - nobody asks
    known = KnownServer("git", "h", FACTS, HELLO.listing, 0.0)
    tools = define_tools(server, known, trust.judge(known), trust.identity).tools
    fields = "name title description search_hint permission_kind defer pin parameters".split()
    made = [[getattr(each, field) for field in fields] for each in tools.values()]
    assert (TOOLS_FORMAT, json_digest(made)[:16]) == (1, "0ce40a3ef0f9815a")


def test_no_server_is_started_for_a_tool_that_was_rejected_since(home: Home):
    source = adopted(home)
    assert len(source.capabilities()) == 3
    judged, decisions = source.judge().tools["read"], home._open[-1].decisions
    assert decisions
    write_rejection(decisions, source.trust.source, "read", judged.pin, judged.listed.written())
    assert refused(source, "read") == "UnknownTool"


def test_who_reads_by_an_older_decision_does_not_undo_a_later_one(
    home: Home, monkeypatch: pytest.MonkeyPatch
):
    source = adopted(home)
    judged, decisions = source.judge().tools["read"], home._open[-1].decisions
    assert decisions

    def defined_while_somebody_decides(*made_of: Any) -> ToolDefinitions:
        monkeypatch.undo()
        write_rejection(decisions, source.trust.source, "read", judged.pin, judged.listed.written())
        assert source.capability("read") is None
        return define_tools(*made_of)

    monkeypatch.setattr(source_module, "define_tools", defined_while_somebody_decides)
    assert len(source.capabilities()) == 3
    with pytest.raises(UnknownTool):
        source.state("read")
    assert len(source.capabilities()) == 2


def test_a_change_of_the_list_is_told_by_the_names_of_its_tools(home: Home):
    source = adopted(home)
    stamp = source.revision()
    read, listed, _ = TOOLS
    new = {**read, "name": "new"}
    source._memory.keep_listing(ServerListing(({**read, "description": "!"}, dict(listed), new)))
    assert isinstance(source, IncrementalSource)
    assert source.changed_since(stamp) == {"read", "search", "new"}
    assert source.capability("search") is None
    named = {each: source.capability(each) for each in ("read", "list", "new")}
    assert named == {each.name: each for each in source.capabilities()}
    assert source.changed_since("another") is None
    now = source.revision()
    source._memory.keep_listing(ServerListing((listed, new)))
    assert source.changed_since(now) == {"read"}
    assert source.changed_since(stamp) is None


def test_whoever_says_something_else_of_itself_lists_all_otherwise(home: Home):
    source = adopted(home)
    stamp = source.revision()
    about = replace(FACTS, instructions="For git, and more.")
    source._memory.keep(ServerIntroduction(about, ServerListing(TOOLS)), 0.5)
    assert source.revision() != stamp
    assert source.changed_since(stamp) is None


def test_what_was_decided_since_may_be_about_any_tool(home: Home):
    source = adopted(home)
    stamp = source.revision()
    source._memory.keep_listing(ServerListing((*TOOLS, {**TOOLS[0], "name": "new"})))
    waiting = source.judge().tools["new"]
    pinned = waiting.pin, waiting.listed.written()
    write_approval(source.trust._decisions, source.trust.source, "new", *pinned)
    assert source.changed_since(stamp) is None
    assert source.state("new") == "asleep"


def test_tools_that_ask_to_be_loaded_may_change_with_any_other(home: Home):
    asking = [
        {**TOOLS[0], "name": f"t{n}", "_meta": {"anthropic/alwaysLoad": True}} for n in range(6)
    ]
    source = home.source(trust="open")
    source._memory.keep(ServerIntroduction(FACTS, ServerListing(tuple(asking))), 0.5)
    before = {each.name: each.defer for each in source.capabilities()}
    stamp = source.revision()
    source._memory.keep_listing(ServerListing(tuple(asking[1:])))
    changed = source.changed_since(stamp)
    after = {each.name: each.defer for each in source.capabilities()}
    assert before["t5"] != after["t5"]
    assert changed is not None
    assert {"t0", "t5"} <= set(changed)
