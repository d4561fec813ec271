"""A server of the standard library alone that repeats whatever it was given, in every spelling.

    python telltale_server.py [refuse | exit]            over its standard streams
    python telltale_server.py --http PORT-FILE [refuse]  over HTTP

Its environment, or the line and the headers of the request, stand in all that it says: what it
is, its tools, results, errors, logs, progress. With `refuse` its first answer is such an error;
with `exit` it ends at once, and says so on its standard error.
"""

import base64
import json
import os
import sys
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, quote_plus

MODES = sys.argv[1:]
ALLOWED = {"HOME", "PATH", "LANG", "PWD", "TMPDIR", "SHELL", "USER", "LOGNAME", "TERM", "TZ"} | {
    "TOOLCRIB_LAUNCHED"  # another at each start, which would be another definition
}


def spelled(given):
    """Each value in the spellings that text from a program is usually in."""
    for value in given:
        raw = value.encode()
        yield value
        yield from (raw.hex(), raw.hex().upper(), quote(raw, safe=""), quote_plus(raw))
        yield from (json.dumps(value), json.dumps(json.dumps(value)), escape(value))
        for before in (b"", b"a", b"ab"):
            yield base64.b64encode(before + raw + b"zz").decode()
            yield base64.urlsafe_b64encode(before + raw).decode()


def answer(message, given):
    """All messages that answer one."""
    tale, id, method = " | ".join(spelled(given)), message.get("id"), message.get("method")
    token = message.get("params", {}).get("_meta", {}).get("progressToken")
    if "refuse" in MODES or method not in ANSWERS:
        error = {"code": -32601, "message": f"cannot {method}: {tale}", "data": {tale: [tale]}}
        return [{"jsonrpc": "2.0", "id": id, "error": error}]
    result = ANSWERS[method](tale, message.get("params", {}))
    said = [{"jsonrpc": "2.0", "id": id, "result": result}]
    if method == "tools/call":
        params = {"level": "error", "logger": "telltale", "data": {"said": tale}}
        said.insert(0, {"jsonrpc": "2.0", "method": "notifications/message", "params": params})
        if token is not None:
            params = {"progressToken": token, "progress": 1, "message": tale}
            said.insert(0, {"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    return said


def initialize(tale, params):
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}, "logging": {}},
        "serverInfo": {"name": "telltale", "version": "1", "title": tale},
        "instructions": tale,
    }


def tools(tale, _params):
    schema = {"type": "object", "properties": {"text": {"type": "string", "description": tale}}}
    about = {"description": f"Tell it all: {tale}", "inputSchema": schema, "_meta": {"tale": tale}}
    return {"tools": [{"name": name, **about} for name in ("tell", "fail", "far")]}


def call(tale, params):
    content = [{"type": "text", "text": f"told {tale}"}]
    failed = params["name"] == "fail"
    return {"content": content, "structuredContent": {"tale": tale, tale: 1}, "isError": failed}


ANSWERS = {"initialize": initialize, "tools/list": tools, "tools/call": call}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message:
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        given = [self.path, *self.headers.values()]
        *notices, last = answer(message, [*given, *" ".join(given).split()])
        events = "".join(f"data: {json.dumps(each)}\n\n" for each in (*notices, last))
        body = (events if notices else json.dumps(last)).encode()
        self.send_response(200)
        kind = "text/event-stream" if notices else "application/json"
        self.send_header("content-type", kind)
        self.send_header("x-tale", " ".join(given)[:2000].replace("\n", " "))
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send_error(405)

    def log_message(self, format, *args):  # noqa: A002 - named by the base class
        pass


def over_http(port_file):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port_file.with_suffix(".tmp").write_text(str(server.server_port))
    port_file.with_suffix(".tmp").rename(port_file)
    server.serve_forever()


def over_streams():
    given = [value for name, value in os.environ.items() if name not in ALLOWED]
    given += sys.argv[1:]
    if "exit" in MODES:
        sys.exit(" | ".join(spelled(given)))
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            for each in answer(message, given):
                sys.stdout.write(json.dumps(each) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    if "--http" in MODES:
        over_http(Path(MODES[MODES.index("--http") + 1]))
    else:
        over_streams()
