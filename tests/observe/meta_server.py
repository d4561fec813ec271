"""A stdio MCP server of the standard library alone; its tool answers with the `_meta` that it got.

Its other tool fails.
"""

import json
import sys

TOOLS = [
    {"name": "meta", "description": "Say which trace this is.", "inputSchema": {"type": "object"}},
    {"name": "broken", "description": "Fail at it.", "inputSchema": {"type": "object"}},
]


def result(method, params):
    if method == "initialize":
        about = {"name": "meta", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": TOOLS}
    text = json.dumps(params.get("_meta", {}))
    return {"content": [{"type": "text", "text": text}], "isError": params["name"] == "broken"}


for line in sys.stdin:
    request = json.loads(line)
    known = request.get("method") in {"initialize", "tools/list", "tools/call"}
    if "id" in request and known:
        answer = {"result": result(request["method"], request.get("params", {}))}
    elif "id" in request:
        answer = {"error": {"code": -32601, "message": "not here"}}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)  # noqa: T201
