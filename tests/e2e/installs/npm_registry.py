"""An npm registry on loopback with one server and what it needs, which may take its time."""

import base64
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVER = "crib-test-server"
NEEDED = "crib-test-needed"
_SERVER_JS = """#!/usr/bin/env node
import { greeting } from "crib-test-needed";
import { createInterface } from "node:readline";
const results = {
  initialize: () => ({
    protocolVersion: "2025-11-25", capabilities: { tools: {} },
    serverInfo: { name: "test", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "greet", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: greeting }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const made = results[method];
  const said = made ? { result: made() } : { error: { code: -32601, message: "no such" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
});
"""
_FILES: Mapping[str, Mapping[str, str]] = {
    SERVER: {
        "package.json": json.dumps(
            {
                "name": SERVER,
                "version": "1.0.0",
                "type": "module",
                "bin": {SERVER: "server.js"},
                "dependencies": {NEEDED: "1.0.0"},
            }
        ),
        "server.js": _SERVER_JS,
    },
    NEEDED: {
        "package.json": json.dumps(
            {"name": NEEDED, "version": "1.0.0", "type": "module", "main": "index.js"}
        ),
        "index.js": 'export const greeting = "good day";\n',
    },
}


def _tarball(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(text.encode()), 0o755
            tar.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


class Registry(ThreadingHTTPServer):
    """`asked_for` is set once what the server needs is wanted; it is sent when `open` is set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.packed = {name: _tarball(files) for name, files in _FILES.items()}
        self.asked_for, self.open = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    @property
    def registry(self) -> Registry:
        assert isinstance(self.server, Registry)
        return self.server

    def do_GET(self) -> None:
        name = self.path.strip("/").partition("/")[0]
        if name not in self.registry.packed:
            self.send_error(404)
        elif self.path.endswith(".tgz"):
            self._send_packed(name)
        else:
            self._send(json.dumps(self._about(name)).encode(), "application/json")

    def _send_packed(self, name: str) -> None:
        if name == NEEDED:
            self.registry.asked_for.set()
            self.registry.open.wait()
        self._send(self.registry.packed[name], "application/octet-stream")

    def _about(self, name: str) -> Mapping[str, object]:
        digest = hashlib.sha512(self.registry.packed[name]).digest()
        version = json.loads(_FILES[name]["package.json"]) | {
            "dist": {
                "tarball": f"{self.registry.url}/{name}/-/{name}-1.0.0.tgz",
                "integrity": f"sha512-{base64.b64encode(digest).decode()}",
            }
        }
        return {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
        pass


@contextmanager
def npm_registry() -> Generator[Registry]:
    with Registry() as registry:
        serving = threading.Thread(target=registry.serve_forever, daemon=True)
        serving.start()
        try:
            yield registry
        finally:
            registry.open.set()
            registry.shutdown()
            serving.join()
