"""A server with tools as people have them, of the standard library alone: `sample_server.py FILE`.

The file has its tools, by name: `description`, `inputSchema`, and what a call of it `says`. It is
read at each listing and each call, so a test changes a definition by writing it.
"""

import json
import sys
from pathlib import Path


def tools():
    return json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))


def listed():
    bare = {"inputSchema": {"type": "object"}}
    return [
        bare | {"name": name} | {key: value for key, value in fields.items() if key != "says"}
        for name, fields in tools().items()
    ]


def answer(method, params):
    if method == "initialize":
        about = {"name": Path(sys.argv[1]).stem, "version": "1.0.0"}
        capabilities = {"tools": {"listChanged": True}}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": about}
    if method == "tools/list":
        return {"tools": listed()}
    if method == "tools/call":
        said = tools()[params["name"]].get("says", "Done.")
        return {"content": [{"type": "text", "text": said}]}
    return {} if method == "ping" else None


def main():
    sys.stderr.write(f"{Path(sys.argv[1]).stem}: listening on stdio\n")
    sys.stderr.flush()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message["method"], message.get("params", {}))
        error = {"error": {"code": -32601, "message": "no such method"}}
        reply = error if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
