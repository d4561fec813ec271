"""What the benchmark of rates says without its peer, and the server that all gateways share."""

import asyncio
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks.replicas.client import McpClient
from benchmarks.replicas.rates import LEFT_OUT, Rate, main, report, setting
from benchmarks.replicas.shop_http import running_shop
from benchmarks.replicas.shop_server import LOOK_UP


def test_without_its_python_contextforge_is_left_out_and_the_page_says_so():
    assert LEFT_OUT in setting(Namespace(clients=16, seconds=10.0, tools=300, contextforge=None))


def test_a_python_without_contextforge_is_refused_before_anything_starts(
    capsys: pytest.CaptureFixture[str],
):
    with pytest.raises(SystemExit, match="2"):
        main(["--contextforge", sys.executable])
    told = capsys.readouterr().err
    assert "does not have ContextForge" in told
    assert "pip install mcp-contextforge-gateway" in told


def test_the_report_has_milliseconds_and_the_cpu_of_each():
    row = Rate("one replica: calls", 1_234.4, 0.0124, 1.5, 0.00456, 2)
    assert "| one replica: calls | 1,234 | 12 | 1,500 | 4.6 | 2 |" in report([row])


def test_the_shop_lists_and_answers_over_http_in_both_eras(tmp_path: Path):
    async def ask() -> None:
        async with running_shop(tmp_path / "shop") as shop:
            client = McpClient(shop.url, "none", "modern")
            listed = await client.list_tools()
            called = await client.call(LOOK_UP, order="7")
            await client.close()
            older = McpClient(shop.url, "none", "legacy")
            again = await older.call(LOOK_UP, order="8")
            await older.close()
        assert LOOK_UP in [each["name"] for each in listed.result["tools"]]
        assert called.result["content"][0]["text"] == f"{LOOK_UP}: 7"
        assert again.result["content"][0]["text"] == f"{LOOK_UP}: 8"
        assert older.sessions == 1

    asyncio.run(ask())
