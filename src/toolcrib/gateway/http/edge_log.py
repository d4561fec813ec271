"""The lines of the log about HTTP requests: who, what, how it ended, how long it took.

A line never has a credential, a query or an argument in it. So what a stranger may choose is not
written as it came: a path is one of ours or "other", a method of MCP one that there is.

A refused request has a line; of many with one code, one in a second, which says how many more there
were: nobody can push other lines out of the log. Those that were served have one if the operator
wants it.
"""

import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from toolcrib.http import HttpRefusal, Message, Scope, Send

REFUSAL_LOG_S = 1.0
OTHER: Final = "other"
HEAD_BYTES = 4_096
METHODS: Final = frozenset(
    """initialize ping server/discover tools/list tools/call resources/list resources/read
    resources/templates/list resources/subscribe resources/unsubscribe prompts/list prompts/get
    completion/complete logging/setLevel subscriptions/listen notifications/initialized
    notifications/cancelled notifications/progress notifications/roots/list_changed""".split()
)
_METHOD: Final = re.compile(rb'"method"\s*:\s*"([A-Za-z/_]{1,64})"')
_PATHS: Final = frozenset(
    {"/mcp", "/mcp/*", "/health", "/ready", "/metrics", "/.well-known/oauth-protected-resource"}
)
_VERBS: Final = frozenset({"GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"})

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class EdgeRequest:
    """A request that is served or refused. `who` and `what` are there once they are known.

    `client` is the address that it comes from.
    """

    verb: str
    path: str
    client: str = ""
    who: str = ""
    what: str = ""
    status: int = 0
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, scope: Scope, client: str = "") -> "EdgeRequest":
        """The request of a scope. Nobody knows yet whether there is such a profile."""
        verb, path = scope["method"], scope["path"]
        path = "/mcp/*" if path.startswith("/mcp/") else path
        return cls(verb if verb in _VERBS else OTHER, path if path in _PATHS else OTHER, client)

    def read(self, headers: Mapping[str, str], body: bytes) -> None:
        """Note which method of MCP it is, if there is one of that name."""
        found = _METHOD.search(body[:HEAD_BYTES])
        method = headers.get("mcp-method") or (found[1].decode() if found else "")
        self.what = method if method in METHODS else ""

    def noting(self, send: Send) -> Send:
        """The same `send`, which notes the status."""

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.status = message["status"]
            await send(message)

        return noted


class EdgeLog:
    """Writes the lines. `is_full` says whether requests that were served have one, too.

    `count` hears the code of each refusal.
    """

    def __init__(
        self,
        is_full: Callable[[], bool] = lambda: False,
        count: Callable[[str], None] = lambda _code: None,
    ) -> None:
        self._is_full = is_full
        self._count = count
        self._last: dict[str, float] = {}
        self._skipped: dict[str, int] = {}

    @property
    def is_full(self) -> bool:
        """Whether every request has a line."""
        return self._is_full()

    def served(self, request: EdgeRequest) -> None:
        """It was answered, by whoever serves it."""
        self._write(logging.INFO, "served", request, {})

    def refused(self, request: EdgeRequest, refusal: HttpRefusal) -> None:
        """It was not let in."""
        self._count(refusal.code)
        request.status = refusal.status
        now, code = time.monotonic(), refusal.code
        if not self.is_full and now - self._last.get(code, -REFUSAL_LOG_S) < REFUSAL_LOG_S:
            self._skipped[code] = self._skipped.get(code, 0) + 1
            return
        self._last[code] = now
        more = self._skipped.pop(code, 0)
        self._write(logging.WARNING, "refused", request, {"code": code, "more": more})

    def _write(
        self,
        level: int,
        how: Literal["served", "refused"],
        request: EdgeRequest,
        others: Mapping[str, str | int],
    ) -> None:
        fields: dict[str, str | int | float] = {
            "verb": request.verb,
            "path": request.path,
            "client": request.client,
            "who": request.who,
            "what": request.what,
            "status": request.status,
            "ms": round((time.monotonic() - request.began) * 1_000, 1),
            **others,
        }
        said = " ".join(f"{key}={value}" for key, value in fields.items() if value != "")
        _log.log(level, "%s: %s", how, said, extra={"fields": {"request": how, **fields}})
