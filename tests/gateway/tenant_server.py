"""An MCP server of one tenant: its tools are named as those of any other, and say a word.

python -S tenant_server.py WORD
"""

import json
import sys

WORD = sys.argv[1]
READS = {"annotations": {"readOnlyHint": True}}
SCHEMA = {"type": "object", "properties": {"order": {"type": "string"}}}
TOOLS = [
    {"name": "look_up", "description": f"Look up an order at {WORD}.", **READS},
    {"name": "report", "description": f"The long report of {WORD}.", **READS},
    {"name": "cancel", "description": f"Cancel an order of {WORD} for good."},
    {"name": f"only_{WORD}", "description": "What no other tenant has.", **READS},
]


def called(params):
    if params["name"] == "report":
        return "\n".join(f"{number}: {WORD} has a line" for number in range(4_000))
    return f"{params['name']} at {WORD}: {params.get('arguments')}"


def answer(method, params):
    info = {"serverInfo": {"name": "shop", "version": "1"}, "capabilities": {"tools": {}}}
    if method == "initialize":
        return {"result": {"protocolVersion": params["protocolVersion"], **info}}
    if method == "tools/list":
        return {"result": {"tools": [{"inputSchema": SCHEMA, **each} for each in TOOLS]}}
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": called(params)}]}}
    return {"error": {"code": -32601, "message": f"there is no {method}"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        reply |= answer(message["method"], message.get("params", {}))
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
