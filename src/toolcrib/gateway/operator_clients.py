"""What the operator may ask about clients: what they do as it happens, and what they see.

watch     a stream of events, until the operator hangs up; who reads too slowly skips some
queries   texts of searches that are in memory alone, by the ids of their events
sets      what conversations were shown and may call, in order
profiles  the profiles and how many tools each has; or the tools of one, page by page
"""

import asyncio
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from toolcrib.crib import Crib, events_of, inventory_of
from toolcrib.gateway.operator_client import ALIVE_S
from toolcrib.gateway.principal import DEFAULT_PROFILE, local_principal
from toolcrib.gateway.server import GatewayServer
from toolcrib.gateway.serving_state import ServingState
from toolcrib.model import Json

MOST_NAMES = 100
"""Of the tools of a profile, at once."""


class Onlooker(Protocol):
    """The operator who looks on."""

    async def send(self, progress: Json) -> None: ...
    async def receive(self) -> Json: ...


class WatchedDaemon(Protocol):
    """What these requests reach of a daemon."""

    @property
    def serving(self) -> ServingState: ...


ClientHandler = Callable[[Mapping[str, Any], Onlooker], Awaitable[Json]]


def client_handlers(daemon: WatchedDaemon) -> Mapping[str, ClientHandler]:
    """Each by its name."""

    async def watch(_request: Mapping[str, Any], onlooker: Onlooker) -> Json:
        await _watch(daemon.serving.crib, onlooker)
        return True

    async def queries(request: Mapping[str, Any], _onlooker: Onlooker) -> Json:
        ids = [id for id in request.get("ids") or () if isinstance(id, int)]
        texts = events_of(daemon.serving.crib).queries.of(ids)
        return {"texts": {str(id): text for id, text in texts.items()}}

    async def sets(_request: Mapping[str, Any], _onlooker: Onlooker) -> Json:
        return await asyncio.to_thread(_sets, daemon.serving.servers.all())

    async def profiles(request: Mapping[str, Any], _onlooker: Onlooker) -> Json:
        crib, name = daemon.serving.crib, request.get("name")
        if isinstance(name, str):
            after = str(request.get("after") or "")
            return await asyncio.to_thread(_profile_tools, crib, name, after)
        return await asyncio.to_thread(_profiles, crib)

    return {each.__name__: each for each in (watch, queries, sets, profiles)}


def _sets(servers: Sequence[GatewayServer]) -> Json:
    return [
        {"caller": server.principal.caller.id, **each}
        for server in servers
        for each in server.sets.describe()
    ]


async def _watch(crib: Crib, onlooker: Onlooker) -> None:
    """Hand events on until the log ends or the operator has left; now and then a sign of life."""
    log, loop, ready = events_of(crib), asyncio.get_running_loop(), asyncio.Event()

    def on_ready() -> None:
        loop.call_soon_threadsafe(ready.set)

    watcher = log.watch(on_ready)
    leaving = asyncio.ensure_future(onlooker.receive())
    try:
        while not leaving.done() and not watcher.ended:
            waiting = asyncio.ensure_future(ready.wait())
            await asyncio.wait(
                {waiting, leaving}, timeout=ALIVE_S, return_when=asyncio.FIRST_COMPLETED
            )
            waiting.cancel()
            ready.clear()
            events, skipped = watcher.take()
            await onlooker.send({"events": [each.as_json() for each in events], "skipped": skipped})
    finally:
        leaving.cancel()
        log.unwatch(watcher)


def _profiles(crib: Crib) -> Json:
    settings = crib.settings.gateway
    return [
        {
            "name": name,
            "mode": settings.profiles[name].mode if name in settings.profiles else "auto",
            "tools": len(_tools(crib, name)),
        }
        for name in {DEFAULT_PROFILE: None, **settings.profiles}
    ]


def _profile_tools(crib: Crib, name: str, after: str) -> Json:
    """The next names of a profile by the alphabet. Raises `ConfigError`."""
    names = _tools(crib, name)
    start = bisect_right(names, after)
    found = names[start : start + MOST_NAMES]
    return {"name": name, "tools": len(names), "before": start, "names": found}


def _tools(crib: Crib, profile: str) -> list[str]:
    caller = local_principal(crib.settings.gateway, profile).caller
    seen = inventory_of(crib).seen_by(caller)
    return sorted(name for name, entry in seen.items() if entry.kind == "tool")
