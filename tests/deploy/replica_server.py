"""An MCP server that says which replica it belongs to, and can be held. Standard library alone.

`where` gives the variable `REPLICA`. `hold` writes `<path>.began`, reports progress, and returns
when there is `<path>.go`.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

WRITING = threading.Lock()
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [
    {"name": "where", "description": "Which replica this is.", "inputSchema": {"type": "object"}},
    {"name": "hold", "description": "Take until let go.", "inputSchema": PATH},
]


def send(**message: object) -> None:
    with WRITING:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def call(id: object, params: dict) -> None:  # type: ignore[type-arg]
    token = params.get("_meta", {}).get("progressToken")
    if params["name"] == "hold":
        path = params["arguments"]["path"]
        Path(f"{path}.began").touch()
        if token is not None:
            told = {"progressToken": token, "progress": 1, "message": "began"}
            send(method="notifications/progress", params=told)
        while not Path(f"{path}.go").exists():
            time.sleep(0.02)
    send(id=id, result={"content": [{"type": "text", "text": os.environ["REPLICA"]}]})


for line in sys.stdin:
    asked = json.loads(line)
    method, id = asked.get("method"), asked.get("id")
    if method == "initialize":
        info = {"name": "replica", "version": "1"}
        about = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        send(id=id, result={**about, "serverInfo": info})
    elif method == "tools/list":
        send(id=id, result={"tools": TOOLS})
    elif method == "tools/call":
        threading.Thread(target=call, args=(id, asked["params"]), daemon=True).start()
    elif id is not None and method == "ping":
        send(id=id, result={})
    elif id is not None:
        send(id=id, error={"code": -32601, "message": "not here"})
