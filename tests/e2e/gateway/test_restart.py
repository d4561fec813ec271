"""What a model was shown, and what it is reading, outlives the daemon."""

import asyncio
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.e2e.gateway.running import Gateway, gateway_over
from tests.e2e.gateway.visits import ERAS, python_client, text_of
from tests.sources.mcp.faking import FAKE, left_of, nothing_left
from toolcrib.gateway.fixed_tools import SET_KEY

SETTINGS = '[gateway]\nmode = "search"\n[call]\npage_tokens = 100\n'
SERVERS = {"fake": {"command": sys.executable, "args": ["-S", str(FAKE)]}}
LONG = 5_000


async def say(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    said = await client.call_tool(tool, arguments)
    assert not said.is_error, said
    return said.model_dump(by_alias=True, mode="json")


async def shown_and_held(gateway: Gateway, era: str) -> tuple[str, str, str]:
    """The set of a search, the handle of a long result of what was found, and its first page."""
    async with python_client(gateway.connect(), era) as client:
        found = await say(client, "tool_search", queries=["the huge tool"])
        handle = found["_meta"][SET_KEY]
        given = {"name": "mcp_fake_huge", "arguments": {"size": LONG}, "set": handle}
        page = text_of(await say(client, "tool_call", **given))
        [result] = {*re.findall(r'handle "([\w-]+)"', page)}
        return handle, result, page


async def go_on(gateway: Gateway, era: str, handle: str, result: str) -> str:
    """Search and call with the same set, and read on; the second page."""
    async with python_client(gateway.connect(), era) as client:
        shown = await say(client, "tool_search", set=handle)
        assert shown["_meta"][SET_KEY] == handle
        assert "mcp_fake_huge" in shown["_meta"]["toolcrib/tools"]
        given = {"name": "mcp_fake_huge", "arguments": {"size": 3}, "set": handle}
        assert text_of(await say(client, "tool_call", **given)) == "xxx"
        return text_of(await say(client, "tool_result", handle=result, page=2))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_sets_and_results_outlive_the_daemon(tmp_path: Path, era: str, ending: str):
    with nothing_left(), gateway_over(tmp_path, SERVERS, SETTINGS) as gateway:
        handle, result, page = asyncio.run(shown_and_held(gateway, era))
        daemon = gateway.runtime()["pid"]
        if ending == "killed":
            os.kill(daemon, signal.SIGKILL)
            assert left_of([daemon]) == {}
        else:
            gateway.stop()
        second = asyncio.run(go_on(gateway, era, handle, result))
        assert gateway.runtime()["pid"] != daemon
        assert "Page 1 of" in page
        assert "Page 2 of" in second
        assert "x" * 200 in second
        [file] = tmp_path.rglob("handles.db")
        assert file.stat().st_mode & 0o777 == 0o600


def test_without_a_catalog_file_nothing_of_it_is_on_disk(tmp_path: Path):
    with nothing_left(), gateway_over(tmp_path, SERVERS, SETTINGS) as gateway:
        config = tmp_path / "config.toml"
        config.write_text(f'store = ":memory:"\n{config.read_text()}')
        handle, result, _ = asyncio.run(shown_and_held(gateway, ERAS[0]))
        assert asyncio.run(go_on(gateway, ERAS[0], handle, result))
        assert not [*tmp_path.rglob("handles.db*")]
