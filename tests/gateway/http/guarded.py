"""An edge with nothing behind it but a note of who got through."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.gateway.daemons import Answer, bare
from toolcrib.gateway import Binding, KeyTerms, keys_in
from toolcrib.gateway.credentials import Authenticator
from toolcrib.gateway.http.guard import HttpGuard
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.quotas import RequestLimiter
from toolcrib.http import App, Message, Receive, Scope, Send, send_json

PORT = 4567
HOST = f"127.0.0.1:{PORT}"
JSON = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


class Guarded:
    """The edge, and who got through it. A key `small` is good for the profile `small` alone."""

    def __init__(self, folder: Path, **gateway: Any) -> None:
        self.reached: list[str] = []
        self.keys = keys_in(folder)
        profiles = {"small": {"kinds": ["read"]}, "large": {}}
        settings = bare(gateway={"profiles": profiles, "at_once": 2, **gateway}).gateway
        self.credentials = Authenticator(settings, self.keys)
        # The owner's is good for a profile that there is not, too.
        self.key = self.keys.add("small", KeyTerms(("small",)))
        self.token = self.keys.add("owner", KeyTerms(("default", "small", "smal", "large")))
        self.request_limiter = RequestLimiter(3)
        self.edge = HttpGuard(
            lambda: settings,
            PORT,
            lambda: self.credentials,
            self.request_limiter,
            RequestLimiter(3, self.request_limiter.rates),
            self._served,
            binding=lambda: Binding.of(settings),
        )

    def _served(self, principal: Principal) -> App:
        async def served(_scope: Scope, receive: Receive, send: Send) -> None:
            self.reached.append(principal.caller.id)
            await receive()
            await send_json(200, {"reached": principal.caller.id}, send)

        return served

    @property
    def right(self) -> dict[str, str]:
        """The headers of a request with nothing wrong about it."""
        bearer = f"Bearer {self.token}"
        return {"host": HOST, "authorization": bearer, "content-type": "application/json"}

    def ask(
        self,
        method: str = "POST",
        path: str = "/mcp",
        headers: Mapping[str, str] | None = None,
        body: list[bytes] | None = None,
        **scope: Any,
    ) -> Answer:
        """One request, with just these headers. A body is in chunks."""
        raw = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in (headers or {}).items()]
        asked = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": raw,
            "query_string": b"",
            "client": ("127.0.0.1", 50_000),
            **scope,
        }
        return asyncio.run(self._ask(asked, [JSON] if body is None else body))

    async def _ask(self, scope: Scope, chunks: list[bytes]) -> Answer:
        left, sent = list(chunks), list[Message]()

        async def receive() -> Message:
            if not left:
                return {"type": "http.disconnect"}
            chunk = left.pop(0)
            return {"type": "http.request", "body": chunk, "more_body": bool(left)}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.edge(scope, receive, send)
        head = sent[0]
        named = {name.decode(): value.decode() for name, value in head["headers"]}
        return Answer(head["status"], named, b"".join(each.get("body", b"") for each in sent[1:]))
