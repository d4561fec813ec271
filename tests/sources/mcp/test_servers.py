import asyncio
import json
import sqlite3
import subprocess
import sys

import pytest

from tests.sources.mcp.faking import FAKE, error, own_file
from tests.waiting import HANG_S, until
from toolcrib.crib import Crib, inventory_of
from toolcrib.model import Call, CallContext, Deadline
from toolcrib.settings import Settings
from toolcrib.sources.mcp import McpServers, McpSource, refresh_all
from toolcrib.wiring import stores_of


@pytest.fixture
def write(tmp_path):
    def write(*modes, **others):
        entry = {"command": sys.executable, "args": ["-S", str(FAKE), *modes], **others}
        file = own_file()
        file.write_text(json.dumps({"mcpServers": {"fake": entry}}))
        return file

    return write


def settings_for(file):
    return Settings(store=":memory:", builtin_tools=False, plugins=False, mcp_config=(file,))


def learn(file):
    """Start the servers of a file once."""
    servers = McpServers.open([file], stores_of(settings_for(file)))
    heard = []
    done = refresh_all(servers.sources, heard.append)
    servers.close()
    assert done == heard
    assert not done[0].error


def mcp_source(crib) -> McpSource:
    return next(iter(inventory_of(crib).servers.values()))


def test_a_server_that_is_not_known_yet_is_a_problem(write):
    with Crib.from_settings(settings_for(write())) as crib:
        assert "was never listed → toolcrib refresh" in crib.problems[0]
        assert not crib.entries()


def test_its_tools_are_found_while_it_sleeps_and_ready_while_it_runs(write):
    file = write(tool_prefix="f", idle_timeout_s=2)
    learn(file)
    with Crib.from_settings(settings_for(file)) as crib:
        assert crib.problems == ()
        (hit, *_) = crib.search("the echo tool")
        assert (hit.name, hit.state, hit.source, hit.permission_kind) == (
            "mcp_f_echo",
            "asleep",
            "mcp",
            "write",
        )
        running = CallContext(Deadline(HANG_S))
        assert asyncio.run(mcp_source(crib).call(Call("echo", {"text": "x"}), running)).ok
        until(lambda: crib.get("mcp_f_echo").state == "ready")
        until(lambda: crib.get("mcp_f_echo").state == "asleep")


def test_a_changed_list_reaches_search_by_itself(write):
    file = write("loop", trust="open")
    learn(file)
    with Crib.from_settings(settings_for(file)) as crib:
        news = []
        inventory_of(crib).pool.events.subscribe("TOOLS_UPDATED", news.append)
        running = CallContext(Deadline(HANG_S))
        asyncio.run(mcp_source(crib).call(Call("echo", {"text": "x"}), running))
        until(lambda: "mcp_fake_seen_2" in crib.entries())
        assert any("mcp_fake_seen_2" in {entry.name for entry in one.added} for one in news)
        assert crib.search("mcp_fake_seen_2")[0].name == "mcp_fake_seen_2"


def test_decisions_that_cannot_be_read_are_a_problem_and_no_server_is_used(write):
    file = write()
    learn(file)
    path = settings_for(file).state_folder / "decisions.db"
    path.unlink()
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE precious (n)")
    db.close()
    with Crib.from_settings(settings_for(file)) as crib:
        assert not crib.entries()
        assert "decisions.db is another program's database" in crib.problems[0]


def test_a_crib_that_is_closed_calls_nobody(write):
    file = write()
    learn(file)
    with Crib.from_settings(settings_for(file)) as crib:
        source = mcp_source(crib)
    outcome = asyncio.run(source.call(Call("echo", {}), CallContext(Deadline(HANG_S))))
    assert error(outcome).code == "closed"


SEARCH = """
import sys
from toolcrib.cli.app import app
try:
    app(["--mcp-config", sys.argv[1], "search", "the echo tool", "--json"])
except SystemExit:
    pass
loaded = {"mcp", "mcp_types", "anyio", "httpx2"} & set(sys.modules)
sys.stderr.write("loaded " + " ".join(sorted(loaded)))
"""


def test_a_search_loads_no_sdk(write):
    file = write()
    learn(file)
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, str(file)], capture_output=True, text=True, check=True
    )
    assert "mcp_fake_echo" in done.stdout
    assert done.stderr.strip() == "loaded"
