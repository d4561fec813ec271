"""Every system is measured on the same requests, and what is not installed is said."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks import everyday, peer_search
from benchmarks.peer_search import PydanticAiSearch, prefixed_names
from tests.benchmarks.tiny_bench import add_everyday
from toolcrib.evaluate.cases import EvalTool
from toolcrib.settings import EmbedSettings, Settings

Table = dict[str, Mapping[str, str]]
REQUESTS = [
    {"id": "1", "query": "weather in Paris", "relevant": ["sky::get_forecast"], "split": "single"},
    {
        "id": "2",
        "query": "read a file and send a message",
        "relevant": ["disk::read_file", "chat::send_message"],
        "split": "multi",
    },
    {
        "id": "3",
        "query": "把消息发送到频道",
        "relevant": ["chat::send_message"],
        "split": "zh_single",
    },
    {"id": "4", "query": "zzz", "relevant": [], "split": "none"},
    {"id": "5", "query": "write_file", "relevant": [], "split": "zh_none"},
]


@pytest.fixture
def set_(bench: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A set of the kind, measured by words."""
    add_everyday(bench, REQUESTS)
    words = Settings(store=":memory:", embed=EmbedSettings(embedder="none"))
    monkeypatch.setattr(everyday, "SETTINGS", words)
    return bench


def tables(text: str) -> list[Table]:
    """The tables of a report: by the first cell of a row, its cells by their heading."""
    found: list[Table] = []
    for block in text.strip().split("\n\n"):
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines()]
        head, _rule, *body = rows
        found.append({row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in body})
    return found


def tables_of(bench: Path, capsys: pytest.CaptureFixture[str]) -> list[Table]:
    everyday.main(["--bench-dir", str(bench)])
    return tables(capsys.readouterr().out)


def test_every_system_is_measured_by_split_and_over_all(
    set_: Path, capsys: pytest.CaptureFixture[str]
):
    overall, by_split, ours = tables_of(set_, capsys)
    assert overall["Toolcrib"]["first hit right"] == "100.0"
    assert overall["Toolcrib"]["none left empty"] == "50.0"
    assert overall["MiniLM"] == overall["RRF of both"]
    assert set(overall["MiniLM"].values()) == {"–"}
    assert by_split["requests"] == {
        "single": "1",
        "multi": "1",
        "zh_single": "1",
        "English": "2",
        "Chinese": "1",
        "all": "3",
    }
    assert by_split["BM25"]["single"] == "100.0"
    assert by_split["Toolcrib"]["multi"] == "100.0"
    splits = ("single", "multi", "none", "zh_single", "zh_none")
    assert list(ours) == [*splits, "English", "Chinese", "all"]
    assert ours["none"]["none left empty"] == "100.0"
    assert ours["none"]["within 5"] == "–"
    assert ours["multi"]["within 1"] == "50.0"


def test_pydantic_ai_counts_words_and_sends_chinese_back(
    set_: Path, capsys: pytest.CaptureFixture[str]
):
    _, by_split, _ = tables_of(set_, capsys)
    [peer] = [name for name in by_split if name.startswith("pydantic-ai, tool search ")]
    assert (by_split[peer]["single"], by_split[peer]["Chinese"]) == ("100.0", "0.0")


def test_a_peer_that_is_not_installed_has_a_row_without_figures(
    set_: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(peer_search, "PEERS", {"nobody": ("no_such_package", PydanticAiSearch)})
    overall, *_ = tables_of(set_, capsys)
    assert set(overall["nobody"].values()) == {"–"}


def test_the_server_is_part_of_a_tool():
    tools = {
        id: EvalTool(id=id, name="get", server=id.partition("::")[0])
        for id in ("a::get", "a-b::get", "a b::get", "a_b::get")
    }
    assert prefixed_names(tools) == {
        "a_get": "a::get",
        "a-b_get": "a-b::get",
        "a_b_get": "a b::get",
        "a_b_get_3": "a_b::get",
    }


def test_fastmcp_ranks_by_bm25():
    pytest.importorskip("fastmcp")
    tools = {
        id: EvalTool(id=id, name=id, description=text)
        for id, text in (("a", "reads a file"), ("b", "sends a message"))
    }
    found: Sequence[str] = peer_search.FastmcpSearch(tools).search("send the message", 5)
    assert found == ["b"]


def test_without_the_set_it_says_so(bench: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        everyday.main(["--bench-dir", str(bench)])
    assert "no set 'everyday'" in capsys.readouterr().err
