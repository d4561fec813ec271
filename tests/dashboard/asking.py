"""A dashboard in this process, and a client that says what it likes to it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from tests.gateway.daemons import Answer
from toolcrib.dashboard.actions import OperatorActions
from toolcrib.dashboard.headers import COOKIE
from toolcrib.dashboard.login import Logins
from toolcrib.dashboard.operations import Operations
from toolcrib.dashboard.server import Dashboard
from toolcrib.http import Message
from toolcrib.model import Json
from toolcrib.settings import DashboardSettings, Settings
from toolcrib.sources.mcp import ServerStatus

HOST = "tc-0a1b2c3d.localhost:7700"
ORIGIN = f"http://{HOST}"
OTHER = "http://tc-0a1b2c3d.localhost:7701"
FORM = "application/x-www-form-urlencoded"
CALL: Mapping[str, Json] = {
    "id": "b91a05adf2464353",
    "caller": "local@default",
    "name": "mcp_mail_send",
    "description": "Send a mail.",
    "permission_kind": "write",
    "arguments": {"to": "a@b"},
    "expires_s": 240.0,
}


def status(server: str = "mail", **others: Any) -> ServerStatus:
    """How a server is."""
    known: dict[str, Any] = {"transport": "stdio", "state": "asleep", "tools": 3, "waiting": 0}
    rest: dict[str, Any] = {
        "flagged": 0,
        "protocol": "",
        "start_s": 0.4,
        "seen": 1.0,
        "failure": None,
    }
    return ServerStatus(server=server, **{**known, **rest, **others})


class FakeGateway:
    """A gateway that notes what it is asked to do. `calls` wait there; `reads` it answers with."""

    def __init__(self) -> None:
        self.reads: dict[str, Any] = {
            "queries": {"texts": {}},
            "sets": [],
            "status": {"clients": []},
            "profiles": [],
            "profile": {"names": [], "tools": 0, "before": 0},
        }
        self.calls: list[Mapping[str, Json]] = [CALL]
        self.servers: list[ServerStatus] = [status()]
        self.asked: list[tuple[str, Mapping[str, Json]]] = []

    def __call__(self, do: str, /, **more: Json) -> Any:
        if do == "servers":
            return {"servers": [each.as_json() for each in self.servers], "broken_files": []}
        if do == "approvals":
            return self.calls
        if do in self.reads:
            return self.reads["profile" if do == "profiles" and "name" in more else do]
        self.asked.append((do, more))
        return True


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Asked:
    """A dashboard in front of a gateway, and what comes of requests to it."""

    def __init__(
        self, gateway: Callable[..., Any] | None = None, settings: DashboardSettings | None = None
    ) -> None:
        self.clock = Clock()
        self.logins = Logins(self.clock)
        self.gateway = gateway or FakeGateway()
        self.operations = Operations(Settings, self.gateway)
        self.actions = OperatorActions(self.operations)
        chosen = settings or DashboardSettings()
        origins = {HOST: ORIGIN, **{each: f"https://{each}" for each in chosen.hosts}}
        self.app = Dashboard(self.operations, self.actions, self.logins, chosen, origins)

    def logged_in(self) -> str:
        """The cookie of somebody who has just used a link."""
        cookie = self.logins.log_in(self.logins.new_link())
        assert cookie
        return cookie

    def get(self, path: str, cookie: str = "", **headers: str) -> Answer:
        return asyncio.run(self.ask("GET", path, _headers(cookie, headers)))

    def post(self, path: str, fields: object, cookie: str = "", **headers: str) -> Answer:
        """A POST as a page of ours sends it; headers replace its own, and empty ones go."""
        return asyncio.run(self.ask(*self.posted(path, fields, cookie, **headers)))

    def posted(
        self, path: str, fields: object, cookie: str = "", **headers: str
    ) -> tuple[str, str, Mapping[str, str], bytes]:
        ours = {"origin": ORIGIN, "sec_fetch_site": "same-origin", "content_type": FORM}
        body = urlencode(fields, doseq=True).encode()  # type: ignore[arg-type]
        return "POST", path, _headers(cookie, {**ours, **headers}), body

    def act(self, action: str, subject: Sequence[str], cookie: str, **headers: str) -> Answer:
        """Press the button of an action, as the page of this session has it."""
        return self.post(f"/act/{action}", self.fields(action, subject, cookie), cookie, **headers)

    def fields(self, action: str, subject: Sequence[str], cookie: str) -> Mapping[str, object]:
        session = self.logins.session(cookie)
        token = session.token(action, subject) if session else "none"
        return {"subject": list(subject), "token": token}

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Answer:
        where, _, query = path.partition("?")
        named = {"host": HOST, **headers}
        scope = {
            "type": "http",
            "method": method,
            "path": where,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in named.items() if value],
            "state": {},
        }
        sent: list[Message] = []

        messages: Iterator[Message] = iter(
            [{"type": "http.request", "body": body, "more_body": False}]
        )

        async def receive() -> Message:
            return next(messages, {"type": "http.disconnect"})

        async def send(message: Message) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start, *rest = sent
        found = {name.decode(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], found, b"".join(each["body"] for each in rest))


def _headers(cookie: str, headers: Mapping[str, str]) -> dict[str, str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"cookie": f"{COOKIE}={cookie}", **named} if cookie else named
