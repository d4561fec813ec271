"""A runner: one gateway that has the stdio servers, and is an HTTP server of the replicas."""

import asyncio
import signal
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.certificates import HOST, Authority
from tests.deploy.replicas import Replica, new_keys
from tests.gateway.clients import ERAS, Era, asked, words
from tests.gateway.daemons import call
from tests.waiting import until_async
from toolcrib.gateway import keys_in
from toolcrib.settings import Settings

WHERE, HOLD = "mcp_runner_mcp_site_where", "mcp_runner_mcp_site_hold"
RUNNER = """hosts = ["{host}"]
tls_certificate = "{certificate}"
tls_key = "{key}"
[call]
page_tokens = 1000000000
"""


def test_replicas_reach_the_servers_of_a_runner_by_tls_with_a_key(home: Path, tmp_path: Path):
    assert home
    authority = Authority()
    certificate, key = authority.issue(tmp_path / "tls")
    of_replicas, of_client = new_keys("replicas", "client")
    secured = RUNNER.format(host=HOST, certificate=certificate, key=key)
    runner = Replica(tmp_path, "runner", secured)
    started = [runner]
    try:
        runner.wait()
        environ = {
            "RUNNER_KEY": of_replicas,
            "SSL_CERT_FILE": str(authority.write(tmp_path / "authority.pem")),
        }
        servers = {"runner": entry(runner)}
        started += [Replica(tmp_path, name, "", servers, **environ) for name in ("one", "two")]
        for each in started[1:]:
            each.wait()
        asked(lambda: visits(runner, started[1:], of_client, tmp_path))
    finally:
        for each in started:
            each.close()


def entry(runner: Replica) -> dict[str, Any]:
    """The runner, as the replicas have it in their file."""
    return {
        "type": "http",
        "url": f"https://127.0.0.1:{runner.port}/mcp",
        "headers": {"Authorization": "Bearer ${RUNNER_KEY}"},
        "disabled_tools": ["tool_result"],
    }


async def visits(runner: Replica, replicas: list[Replica], key: str, folder: Path) -> None:
    for replica in replicas:
        for era in ERAS:
            await visit(replica, key, era, folder / f"{replica.name}-{era}")
    # It comes back, and nobody has to tell the replicas.
    runner.signal(signal.SIGTERM)
    await until_async(lambda: runner.process.poll() is not None, "the runner ends")
    answer = await call(replicas[0].port, key, WHERE)
    assert answer.json["result"]["isError"], "it is told, and nothing is made up"
    await asyncio.to_thread(runner.start_again)

    async def is_back() -> bool:
        said = (await call(replicas[0].port, key, WHERE)).json["result"]
        return said["content"][0]["text"] == "runner"

    await until_async(is_back, "the replica finds it again")
    # Without its key a replica gets nothing from it.
    keys_in(Settings().state_folder).remove("replicas")

    async def is_refused() -> bool:
        return bool((await call(replicas[0].port, key, WHERE)).json["result"].get("isError"))

    await until_async(is_refused, "the key is good no longer")


async def visit(replica: Replica, key: str, era: Era, path: Path) -> None:
    """List, call, and hear of the progress, all through both gateways."""

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        assert (progress, total, message) == (1, None, "began")
        Path(f"{path}.go").touch()  # noqa: ASYNC240 - one file

    async with (
        create_mcp_http_client(headers={"Authorization": f"Bearer {key}"}) as http,
        Client(
            streamable_http_client(f"http://127.0.0.1:{replica.port}/mcp", http_client=http),
            mode=era,
            cache=None,
        ) as client,
    ):
        listed = {each.name for each in (await client.list_tools()).tools}
        assert listed == {WHERE, HOLD, "tool_result"}
        assert words(await client.call_tool(WHERE, {})) == "runner"
        held = await client.call_tool(HOLD, {"path": str(path)}, progress_callback=on_progress)
        assert words(held) == "runner"
