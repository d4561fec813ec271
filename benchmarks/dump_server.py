"""An MCP server that lists the tools of a file and answers every call at once.

    python -S dump_server.py FILE

FILE is JSON with a list under `tools`, as somebody's server once listed them. The standard library
alone, so that forty of them are up in a moment; the handshake and the 2026-07-28 era alike.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

INFO = {"name": "dump", "version": "1"}
CAPABILITIES = {"tools": {}}
MODERN = "2026-07-28"

ListTools: TypeAlias = Callable[[], Sequence[Any]]
CallTool: TypeAlias = Callable[[Mapping[str, Any]], str]


def main() -> None:
    serve(lambda: read_tools(Path(sys.argv[1])), lambda called: json.dumps(called.get("arguments")))


def read_tools(file: Path) -> Sequence[Any]:
    """What stands in it now."""
    return json.loads(file.read_text(encoding="utf-8"))["tools"]


def serve(tools: ListTools, call: CallTool) -> None:
    """Answer until the client hangs up. `call` gets the parameters of a call, and says its text."""
    for line in sys.stdin:
        if answer := answer_to(json.loads(line), tools, call):
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def answer_to(
    message: Mapping[str, Any], tools: ListTools, call: CallTool
) -> dict[str, Any] | None:
    """The message that answers this one. None for what wants no answer."""
    if "id" not in message or "method" not in message:
        return None
    return {"jsonrpc": "2.0", "id": message["id"], **_answer(message, tools, call)}


def _answer(message: Mapping[str, Any], tools: ListTools, call: CallTool) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            facts = {"capabilities": CAPABILITIES, "serverInfo": INFO}
            return {"result": {"protocolVersion": version, **facts}}
        case "server/discover":
            found = {"supportedVersions": [MODERN], "capabilities": CAPABILITIES}
            return _cacheable(message, {**found, "serverInfo": INFO})
        case "tools/list":
            return _cacheable(message, {"tools": [*tools()]})
        case "tools/call":
            words = call(message["params"])
            return _result(message, {"content": [{"type": "text", "text": words}]})
        case "ping":
            return {"result": {}}
        case method:
            return {"error": {"code": -32601, "message": f"there is no {method}"}}


def _cacheable(message: Mapping[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    hints = {"ttlMs": 0, "cacheScope": "private"} if _is_modern(message) else {}
    return _result(message, result | hints)


def _result(message: Mapping[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    return {"result": result | ({"resultType": "complete"} if _is_modern(message) else {})}


def _is_modern(message: Mapping[str, Any]) -> bool:
    meta = message.get("params", {}).get("_meta", {})
    return "io.modelcontextprotocol/protocolVersion" in meta


if __name__ == "__main__":
    main()
