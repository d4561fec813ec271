"""The benchmark of gateways runs every way in, and says what it cannot measure."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks import gateway, gateway_pool
from benchmarks.dump_server import _answer
from benchmarks.gateway_pool import read_pool

WAYS = ("the SDK's client, directly", "`toolcrib connect`", "`toolcrib serve --stdio`", "HTTP")
MODERN: Any = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


@pytest.fixture
def catalogs(tmp_path: Path) -> Path:
    folder = tmp_path / "catalogs"
    folder.mkdir()
    for server in ("a", "b"):
        tools = [
            {
                "name": f"{server}_{number}",
                "description": f"Turn wheel {number} of the {server} machine",
                "inputSchema": {"type": "object"},
            }
            for number in range(20)
        ]
        (folder / f"{server}.json").write_text(json.dumps({"tools": tools}))
    (folder / "_index.json").write_text("[]")
    return folder


@pytest.mark.extras
@pytest.mark.skipif(not find_spec("fastmcp"), reason="no fastmcp: run `make extras`")
def test_every_way_has_its_row(
    catalogs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(gateway_pool, "LARGE", 10)
    monkeypatch.setattr(gateway, "WARM_UP", 1)
    page = tmp_path / "page.md"
    page.write_text("<!-- gateway: begin -->\n<!-- gateway: end -->\n")
    options = ["--tools", "40", "--calls", "2", "--slow", "1", "--starts", "1"]
    options += ["--embedder", "none", "--catalogs", str(catalogs), "--markdown", str(page)]
    gateway.main(options)
    told = capfd.readouterr().out
    assert "40 tools of 2 servers are in the pool" in told
    assert all(told.count(f"| {way} |") >= 1 for way in [*WAYS, "fastmcp, stdio"])
    assert told.strip() in page.read_text()


def test_too_few_tools_are_said_to_be_too_few(
    catalogs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        gateway.main(["--catalogs", str(catalogs)])
    assert "has only 0 tools in servers of 40 and more" in capsys.readouterr().err


def test_a_pool_is_of_whole_servers_and_one_to_call(
    catalogs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(gateway_pool, "LARGE", 10)
    pool = read_pool(catalogs, tmp_path, 15)
    assert (pool.tools, list(pool.servers)) == (20, ["s0", "bench"])
    assert all(query.startswith("Turn wheel") for query in pool.queries)
    assert json.loads((tmp_path / "s0.json").read_text())["tools"]


def answer(message: Any, tools: list[Any]) -> dict[str, Any]:
    return _answer(message, lambda: tools, lambda called: json.dumps(called.get("arguments")))


@pytest.mark.parametrize("params", [{}, MODERN])
def test_a_dump_server_speaks_both_eras(params: Any):
    listed = answer({"method": "tools/list", "params": params}, [{"name": "a"}])["result"]
    assert listed["tools"] == [{"name": "a"}]
    assert ("resultType" in listed, "ttlMs" in listed) == (bool(params), bool(params))
    called = answer({"method": "tools/call", "params": {"arguments": {"x": 1}, **params}}, [])
    assert called["result"]["content"][0]["text"] == '{"x": 1}'
    assert answer({"method": "nothing", "params": params}, [])["error"]["code"] == -32601
