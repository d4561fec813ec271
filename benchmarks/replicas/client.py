"""An MCP client over HTTP, in either era: it says what it got, and never gives up."""

import asyncio
import json
import time
from collections.abc import Mapping
from itertools import count
from typing import Any, Literal, NamedTuple

import httpx2

from benchmarks.home import Unusable
from benchmarks.replicas.cluster import HOST, REPLICA_HEADER, UNREADY, Replica

Era = Literal["legacy", "modern"]
MODERN = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "load", "version": "1"},
}
PATIENCE_S = 30.0
FOUND_S, LOOK_S = 60.0, 0.02
LOST_SESSION = 404


class Reply(NamedTuple):
    """What came of a request: a result, or the code of what went wrong.

    `broken`: no gateway has answered; what was asked for may have been done.
    """

    result: Mapping[str, Any]
    code: str = ""
    broken: bool = False
    status: int = 200

    @property
    def meta(self) -> Mapping[str, Any]:
        """What the result says to programs."""
        return self.result.get("_meta", {})

    @property
    def ticket(self) -> str:
        """Of a call that waits for approval; else empty."""
        return self.result.get("structuredContent", {}).get("error", {}).get("ticket") or ""


class McpClient:
    """One client with a key. `replica` is who answered it last; `sessions` how many it began."""

    def __init__(
        self, url: str, key: str, era: Era, host: str = HOST, patience_s: float = PATIENCE_S
    ) -> None:
        self._url, self._era, self.key = url, era, key
        self._ids = count(1)
        self._session = ""
        self.replica = ""
        self.sessions = 0
        headers = {
            "Authorization": f"Bearer {key}",
            "Host": host,
            "Accept": "application/json, text/event-stream",
        }
        self._http = httpx2.AsyncClient(headers=headers, timeout=patience_s, trust_env=False)

    async def close(self) -> None:
        """Hang up."""
        await self._http.aclose()

    async def call(self, tool: str, **arguments: object) -> Reply:
        """Call one of the gateway's tools. A session that is gone is begun anew, as clients do."""
        return await self._request(
            "tools/call", {"name": tool, "arguments": arguments}, {"Mcp-Name": tool}
        )

    async def list_tools(self) -> Reply:
        """The first page of what there is."""
        return await self._request("tools/list", {}, {})

    async def _request(
        self, method: str, params: Mapping[str, Any], named: Mapping[str, str]
    ) -> Reply:
        try:
            if self._era == "modern":
                headers = {**named, "MCP-Protocol-Version": MODERN, "Mcp-Method": method}
                return await self._ask(method, {**params, "_meta": _META}, headers)
            if self._session:
                reply = await self._ask(method, params, self._in_session())
                if reply.status != LOST_SESSION:
                    return reply
            if (begun := await self._begin()).code:
                return begun
            return await self._ask(method, params, self._in_session())
        except (httpx2.HTTPError, ValueError) as error:
            return Reply({}, type(error).__name__, broken=True)

    async def _begin(self) -> Reply:
        self._session = ""
        reply = await self._ask("initialize", _HELLO, {})
        if not reply.code:
            self.sessions += 1
            body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await self._http.post(self._url, json=body, headers=self._in_session())
        return reply

    def _in_session(self) -> dict[str, str]:
        return {"Mcp-Session-Id": self._session, "MCP-Protocol-Version": "2025-11-25"}

    async def _ask(
        self, method: str, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Reply:
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        answer = await self._http.post(self._url, json=body, headers={**headers})
        replica = answer.headers.get(REPLICA_HEADER, self.replica)
        self.replica = replica.removesuffix(UNREADY)
        self._session = answer.headers.get("mcp-session-id", self._session)
        if answer.status_code != 200:
            return _refused(answer)
        return _read(answer)


async def until_found(replica: Replica, key: str, tool: str, within_s: float = FOUND_S) -> float:
    """When a search for a tool by its name finds it at a replica, by the monotonic clock.

    Raises `Unusable` if it never does.
    """
    client = McpClient(replica.url, key, "modern", f"127.0.0.1:{replica.port}")
    end = time.monotonic() + within_s
    try:
        while time.monotonic() < end:
            reply = await client.call("tool_search", queries=[tool])
            if any(name.endswith(tool) for name in reply.meta.get("toolcrib/tools", ())):
                return time.monotonic()
            await asyncio.sleep(LOOK_S)
    finally:
        await client.close()
    raise Unusable(f"replica {replica.name} does not find {tool}")


def _refused(answer: httpx2.Response) -> Reply:
    """With the code of our own refusals; HAProxy's have none."""
    try:
        code = str(answer.json()["error"]["data"]["code"])
    except (ValueError, KeyError, TypeError):
        code = f"http {answer.status_code}"
    return Reply({}, code, broken=answer.status_code in (502, 504), status=answer.status_code)


def _read(answer: httpx2.Response) -> Reply:
    """The last message of an answer, whether it came as a stream or as one. Raises `ValueError`."""
    text = answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        lines = [
            line for line in text.splitlines() if line.startswith("data:") and line[5:].strip()
        ]
        text = lines[-1].removeprefix("data:") if lines else ""
    match json.loads(text):
        case {"result": dict(result)}:
            error = (result.get("structuredContent") or {}).get("error", {})
            code = error.get("code", "error") if result.get("isError") else ""
            return Reply(result, code)
        case {"error": {"code": code}}:
            return Reply({}, f"rpc {code}")
        case _:
            raise ValueError("no answer in it")
