"""A stdio MCP server for `grafana_picture`: tools that are fast, slow and broken.

python grafana_server.py NAME
"""

import json
import random
import sys
import time
from typing import Any

NAME = sys.argv[1]
SAYS = {
    "weather": "Look up the weather of a city",
    "mail": "Send a message to somebody",
    "billing": "Say which invoice is due",
}
BUSY = [
    {
        "name": name,
        "description": f"{SAYS.get(NAME, NAME)}, {name}.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    }
    for name in ("fast", "slow", "broken", "delete")
]
THINGS = "order customer report ticket contract supplier budget meeting device policy".split()
VERBS = "list read create update archive export compare share".split()
TOOLS = BUSY + [
    {
        "name": f"{verb}_{thing}",
        "description": f"{verb.title()} a {thing}, by its id or by what it is called.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": f"The id of the {thing}"},
                "name": {"type": "string", "description": f"What the {thing} is called"},
            },
        },
    }
    for verb in VERBS
    for thing in THINGS
]
PAUSE_S = {"fast": 0.005, "slow": 0.2, "broken": 0.02, "delete": 0.0}


def result(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """What it answers."""
    if method == "initialize":
        about = {"name": NAME, "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": TOOLS}
    tool: str = params["name"]
    time.sleep(PAUSE_S[tool] * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
    return {"content": [{"type": "text", "text": "done"}], "isError": tool == "broken"}


for line in sys.stdin:
    request: dict[str, Any] = json.loads(line)
    if "id" not in request:
        continue
    if request["method"] in {"initialize", "tools/list", "tools/call"}:
        answer: dict[str, Any] = {"result": result(request["method"], request.get("params", {}))}
    else:
        answer = {"error": {"code": -32601, "message": "not here"}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
