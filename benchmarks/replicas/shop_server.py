"""The MCP server behind the replicas: tools to find, to read with, and to approve.

    python -m benchmarks.replicas.shop_server TOOLS SPENT

TOOLS is a JSON file with the tools that it lists beside its own three. `cancel_order` writes its
order to the end of the file SPENT: how often it is there is how often the call was made.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.dump_server import CallTool, ListTools, read_tools, serve

SERVER = "shop"
LOOK_UP, REPORT, CANCEL = "look_up_order", "read_report", "cancel_order"
REPORT_LINES = 1_200
_READS = {"annotations": {"readOnlyHint": True}}
_SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
OWN: tuple[dict[str, Any], ...] = (
    {"name": LOOK_UP, "description": "Look up one order.", "inputSchema": _SCHEMA, **_READS},
    {
        "name": REPORT,
        "description": "The long report on an order.",
        "inputSchema": _SCHEMA,
        **_READS,
    },
    {"name": CANCEL, "description": "Cancel one order for good.", "inputSchema": _SCHEMA},
)


def main() -> None:
    serve(*shop(*map(Path, sys.argv[1:])))


def shop(tools: Path, spent: Path) -> tuple[ListTools, CallTool]:
    """What it lists, and how it answers a call."""
    return lambda: [*OWN, *read_tools(tools)], lambda called: _answer(called, spent)


def _answer(called: Mapping[str, Any], spent: Path) -> str:
    name, order = called["name"], str(called.get("arguments", {}).get("order", ""))
    if name == CANCEL:
        note(spent, order)
    if name == REPORT:
        return "\n".join(
            f"{number}: order {order}, one line of many" for number in range(REPORT_LINES)
        )
    return f"{name}: {order}"


def note(file: Path, word: str) -> None:
    """Put a line at the end of a file, whole, whoever else writes to it."""
    place = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(place, f"{word}\n".encode())
    finally:
        os.close(place)


if __name__ == "__main__":
    main()
