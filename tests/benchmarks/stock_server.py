"""A server of a small shop: what it has, and a file that it writes.

python stock_server.py FOLDER
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2]))  # as a program, its neighbours are not in sight

from benchmarks.dump_server import serve

PLACE = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [
    {"name": "list_stock", "description": "List the stock of a place.", "inputSchema": PLACE},
    {"name": "save_report", "description": "Save a report as a file.", "inputSchema": TEXT},
]


def stock(place: str) -> list[dict[str, Any]]:
    return [{"item": f"{place} {n}", "count": n, "note": "as new " * 20} for n in range(30)]


def answer(called: Mapping[str, Any]) -> str:
    given = called["arguments"]
    if called["name"] == "list_stock":
        return json.dumps(stock(given["place"]))
    Path(sys.argv[1], "report.txt").write_text(given["text"], encoding="utf-8")
    return "saved"


if __name__ == "__main__":
    serve(lambda: TOOLS, answer)
