"""The dashboard's side of a request: what is checked, and who answers.

Every request is for our own name: another Host is refused. Every page but the login wants the
cookie of a session. What changes something is a POST of a page of ours, with the token of that very
action, from somebody who has used a link in the last minutes.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

import htpy as h

from toolcrib.dashboard.actions import ACTIONS, Action, OperatorActions, ServerTask
from toolcrib.dashboard.event_stream import EventFollower, sent_events
from toolcrib.dashboard.headers import (
    EVENT_STREAM,
    HTML,
    cookie_of,
    cookie_set,
    send_answer,
    send_head,
    send_piece,
)
from toolcrib.dashboard.login import BrowserSession, Logins, Notice
from toolcrib.dashboard.operations import Operations, Overview
from toolcrib.dashboard.page import NEW_LINK, PLAYGROUND, PageView, bare_page, code_words
from toolcrib.dashboard.screens import DATA, SCREENS, ScreenRoute
from toolcrib.dashboard.screens.live import LiveChoice, id_of
from toolcrib.errors import ToolcribError
from toolcrib.http import AUTHENTICATED, HttpRefusal, Receive, Scope, Send, headers_of, read_body
from toolcrib.observe import LoggedEvent
from toolcrib.settings import DashboardSettings

STATIC = Path(__file__).parent / "static"
KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
FORM = "application/x-www-form-urlencoded"
TITLES = {401: "Log in first", 404: "Not here", 421: "Not this name", 503: "Not now"}
MOST_BODY = 16 * 1024
MOST_FIELDS = 8
JSON = "application/json"


_log = logging.getLogger(__name__)


class BrowserRequest(NamedTuple):
    """A request that was meant for us: its path, the fields behind it, its headers."""

    method: str
    path: str
    query: Mapping[str, Sequence[str]]
    headers: Mapping[str, str]
    origin: str

    def field(self, name: str) -> str:
        """The one value of a field; empty if it has none, or several."""
        values = self.query.get(name, ())
        return values[0] if len(values) == 1 else ""


@dataclass(frozen=True)
class Dashboard:
    """The ASGI app. `origins` are those of its pages by the Host that they are asked from."""

    operations: Operations
    actions: OperatorActions
    logins: Logins
    settings: DashboardSettings
    origins: Mapping[str, str]

    @cached_property
    def follower(self) -> EventFollower:
        """Who looks for new events, for all browsers that are on Live."""
        return EventFollower(self.operations.events.coming)

    @cached_property
    def screens(self) -> Mapping[str, ScreenRoute]:
        """The pages that there are: all for the operator, few of a crib in a program."""
        return SCREENS if self._may_act else {path: SCREENS[path] for path in PLAYGROUND}

    @property
    def _may_act(self) -> bool:
        return self.operations.is_operator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. There is nothing else: no WebSocket."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            await self._answer(self._request(scope), scope, receive, send)
        except HttpRefusal as refusal:
            await self._refuse(refusal, send)
        except Exception:  # noqa: BLE001 - a mistake of ours: the browser hears no more
            _log.exception("a page of the dashboard failed")
            problem = "This page failed. The terminal of `toolcrib dashboard` says why."
            await self._refuse(HttpRefusal(500, "failed", problem), send)

    async def _refuse(self, refusal: HttpRefusal, send: Send) -> None:
        words = code_words(refusal.message)
        content = bare_page(TITLES.get(refusal.status, "Refused"), h.p[words])
        more = {"connection": "close", **refusal.headers}
        await send_answer(send, refusal.status, _bytes(content), more=more)

    def _request(self, scope: Scope) -> BrowserRequest:
        """The request, if it is for us. Raises `HttpRefusal`."""
        headers = headers_of(scope["headers"])
        origin = self.origins.get(headers.get("host", ""))
        if origin is None:
            raise HttpRefusal(421, "bad_host", "Use the address that `toolcrib dashboard` printed.")
        if "upgrade" in headers:
            raise HttpRefusal(400, "bad_request", "Connections are not upgraded here.")
        query = _fields(scope.get("query_string", b""))
        return BrowserRequest(scope["method"], scope["path"], query, headers, origin)

    async def _answer(
        self, request: BrowserRequest, scope: Scope, receive: Receive, send: Send
    ) -> None:
        match request.method, request.path:
            case "GET", "/login":
                await send_answer(send, 200, _bytes(_login_page()))
            case "POST", "/login":
                await self._log_in(request, receive, send)
            case "GET", path if path.startswith("/static/"):
                await _send_static(path.removeprefix("/static/"), send)
            case "GET", path if path in self.screens or path in DATA or path == "/pulse":
                session = self._session(request, scope)
                await self._show(request, session, send)
            case "GET", "/":
                self._session(request, scope)
                await send_answer(send, 303, more={"location": PLAYGROUND[0]})
            case "GET", "/stream" if "/live" in self.screens:
                session = self._session(request, scope)
                await self._stream(request, session, receive, send)
            case "POST", path if self._may_act and path.removeprefix("/act/") in ACTIONS:
                session = self._session(request, scope)
                await self._act(request, path.removeprefix("/act/"), session, receive, send)
            case _:
                raise HttpRefusal(404, "not_found", "There is no such page.")

    def _session(self, request: BrowserRequest, scope: Scope) -> BrowserSession:
        """Whoever asks. Raises `HttpRefusal` if nobody knows them, or another site makes them."""
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise HttpRefusal(403, "bad_origin", "Another page asked for this.")
        session = self.logins.session(cookie_of(request.headers))
        if session is None:
            problem = f"You are not logged in, or not any more. For a link, {NEW_LINK}."
            raise HttpRefusal(401, "unauthorized", problem)
        scope.get("state", {}).get(AUTHENTICATED, _ignore)()
        return session

    async def _log_in(self, request: BrowserRequest, receive: Receive, send: Send) -> None:
        form = await _form(request, receive)
        cookie = self.logins.log_in(form.get("secret", [""])[0])
        if cookie is None:
            problem = f"This link was used, or is older than a minute. For a new one, {NEW_LINK}."
            raise HttpRefusal(403, "bad_link", problem)
        await send_answer(send, 204, more={"set-cookie": cookie_set(cookie)})

    async def _show(self, request: BrowserRequest, session: BrowserSession, send: Send) -> None:
        make, kind = (self._page, HTML) if request.path in self.screens else (self._data, JSON)
        try:
            content = await asyncio.to_thread(make, request, session)
        except ToolcribError as error:
            raise HttpRefusal(503, "unavailable", str(error)) from None
        await send_answer(send, 200, content, kind)

    async def _stream(
        self, request: BrowserRequest, session: BrowserSession, receive: Receive, send: Send
    ) -> None:
        """Events as they come, until the browser leaves or may look no longer."""
        kind, client, server, outcome, _ = LiveChoice.of_fields(request.field)
        choose = self.operations.events.filter_of
        which = await asyncio.to_thread(choose, kind, client, server, outcome)
        seen = request.headers.get("last-event-id") or request.field("after")

        def missed() -> Sequence[LoggedEvent]:
            return self.operations.events.since(id_of(seen)) if seen else ()

        async def send_all() -> None:
            await send_head(send, EVENT_STREAM)
            async with aclosing(sent_events(self.follower, which, missed)) as messages:
                async for message in messages:
                    await send_piece(send, message)
                    if not session.may_view:
                        break

        tasks = {asyncio.create_task(send_all()), asyncio.create_task(_left(receive))}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        await send_piece(send, b"", more=False)

    def _page(self, request: BrowserRequest, session: BrowserSession) -> bytes:
        screen = self.screens[request.path]
        data = screen.load(self.operations, request.field)
        return _bytes(screen.show(self._view(request, session), data))

    def _data(self, request: BrowserRequest, session: BrowserSession) -> bytes:
        if request.path in DATA:
            return json.dumps(DATA[request.path](self.operations, request.field)).encode()
        view = self._view(request, session)
        return json.dumps({"mark": view.mark, "waiting": view.overview.waiting}).encode()

    def _view(self, request: BrowserRequest, session: BrowserSession) -> PageView:
        """What every page shows. Raises `ToolcribError`."""
        overview, acts = self.operations.look(), self._may_act
        acting_s = session.acting_s if acts else 0.0
        tasks = dict(self.actions.tasks.by_server)
        return PageView(
            path=request.path,
            overview=overview,
            token=session.token,
            acting_s=acting_s,
            may_approve=self.settings.approve == "recent_login",
            notice=session.notice(request.field("notice")),
            mark=_mark(overview, tasks, acts=acting_s > 0),
            tasks=tasks,
            is_operator=acts,
        )

    async def _act(
        self,
        request: BrowserRequest,
        name: str,
        session: BrowserSession,
        receive: Receive,
        send: Send,
    ) -> None:
        form, action = await _form(request, receive), ACTIONS[name]
        subject = form.get("subject", [])
        token = form.get("token", [""])[0]
        if len(subject) != action.fields or not session.is_token(token, name, subject):
            raise HttpRefusal(403, "bad_token", "This button is not good any more; reload the page")
        self._check_level(action, session)
        try:
            notice = await action.do(self.actions, *subject)
        except ToolcribError as error:
            notice = Notice(str(error), is_bad=True)
        where = f"{action.back}?notice={session.note(notice)}"
        await send_answer(send, 303, more={"location": where})

    def _check_level(self, action: Action, session: BrowserSession) -> None:
        if not session.acting_s:
            problem = f"Your link is older than 15 minutes: you may look. To act, {NEW_LINK}."
            raise HttpRefusal(403, "may_not_act", problem)
        if action.approves and self.settings.approve == "never":
            problem = 'Approving here is switched off by `dashboard.approve = "never"`.'
            raise HttpRefusal(403, "may_not_approve", problem)


async def _left(receive: Receive) -> None:
    """Until the browser has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _ignore() -> None:
    """For a request without a connection of ours behind it."""


async def _form(request: BrowserRequest, receive: Receive) -> Mapping[str, Sequence[str]]:
    """The fields of a form that a page of ours sent. Raises `HttpRefusal` for any other."""
    headers = request.headers
    ours = headers.get("origin") == request.origin
    if not ours or headers.get("sec-fetch-site") != "same-origin":
        raise HttpRefusal(403, "bad_origin", "Only a page of this dashboard may ask for this.")
    if headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise HttpRefusal(415, "bad_type", "Only a form of this dashboard is taken.")
    return _fields(await read_body(receive, headers, MOST_BODY))


def _fields(raw: bytes) -> Mapping[str, Sequence[str]]:
    try:
        return parse_qs(
            raw.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except ValueError:
        raise HttpRefusal(400, "bad_request", "This form cannot be read.") from None


async def _send_static(name: str, send: Send) -> None:
    files = {path.name: path for path in STATIC.iterdir() if path.suffix in KINDS}
    if name not in files:
        raise HttpRefusal(404, "not_found", "There is no such file.")
    await send_answer(send, 200, files[name].read_bytes(), KINDS[files[name].suffix])


def _mark(overview: Overview, tasks: Mapping[str, ServerTask], *, acts: bool) -> str:
    """Another one whenever a page would be another; that memory grows a little is no reason."""
    servers = [replace(each, memory_bytes=None, seen=0.0) for each in overview.servers]
    calls = [each.id for each in overview.calls]
    doing = [(name, each.words, each.link, each.notice) for name, each in tasks.items()]
    seen = (acts, overview.has_gateway, overview.problems, calls, servers, doing)
    return hashlib.sha256(repr(seen).encode("utf-8", "replace")).hexdigest()[:16]


def _login_page() -> h.Element:
    return bare_page(
        "Log in",
        h.p("#login", role="status")["This needs JavaScript of this page alone."],
        script="/static/login.js",
    )


def _bytes(element: h.Element) -> bytes:
    return str(element).encode("utf-8", "replace")
