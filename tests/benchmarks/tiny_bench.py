"""A bench folder small enough to know the answers: two sets, one of them with parts."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

Line = Mapping[str, object]

TOOLS = (
    ("disk::read_file", "read_file", "Read a text file from disk"),
    ("disk::write_file", "write_file", "Write text into a file"),
    ("sky::get_forecast", "get_forecast", "Weather of the coming days in a city"),
    ("chat::send_message", "send_message", "发送消息到频道"),
)


def make_bench(folder: Path) -> Path:
    """Write the sets `mcp_big`, `mcp_big_names` and a folder that is none; return the folder."""
    schema = {"properties": {"where": {"type": "string", "description": "path or place"}}}
    _write(
        folder / "mcp_big" / "catalog.jsonl",
        (
            {"id": id, "name": name, "description": text, "parameters": schema}
            for id, name, text in TOOLS
        ),
    )
    _write(
        folder / "mcp_big" / "queries.jsonl",
        [
            _query("1", "weather in Paris", ["sky::get_forecast"], "plain"),
            _query("2", "把消息发送到频道", ["chat::send_message"], "chinese"),
            _query("3", "zzz", [], "plain"),
        ],
    )
    _write(
        folder / "mcp_big_names" / "queries.jsonl",
        [_query(id, name, [id], "exact") for id, name, _ in TOOLS],
    )
    (folder / "pairs").mkdir()
    return folder


def add_everyday(folder: Path, requests: Iterable[Line]) -> None:
    """The set `everyday` in a bench that was made: these requests for its tools."""
    catalog = (folder / "mcp_big" / "catalog.jsonl").read_bytes()
    _write(folder / "everyday" / "queries.jsonl", requests)
    (folder / "everyday" / "catalog.jsonl").write_bytes(catalog)


def _query(id: str, text: str, relevant: list[str], split: str) -> Line:
    return {"id": id, "query": text, "relevant": relevant, "split": split}


def _write(path: Path, lines: Iterable[Line]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
