"""The screens: each loads what it shows, and is a function of that. None changes anything.

    SCREENS[path].load(operations, field) ──> data ──> SCREENS[path].show(view, data) ──> HTML

`load` waits for files or for the gateway, on a thread. `show` does no I/O and knows no request.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import htpy as h

from toolcrib.dashboard.client_queries import ClientsView, ConversationView, ProfileTools
from toolcrib.dashboard.event_queries import EventStory
from toolcrib.dashboard.operations import Operations
from toolcrib.dashboard.page import PageView
from toolcrib.dashboard.rankings import RankingAnswer, RankingAsked
from toolcrib.dashboard.screens.clients import (
    clients_screen,
    conversation_screen,
    profile_screen,
)
from toolcrib.dashboard.screens.gaps import Gaps, gaps_screen, load_gaps
from toolcrib.dashboard.screens.home import HomeFacts, home_screen
from toolcrib.dashboard.screens.inbox import inbox_screen
from toolcrib.dashboard.screens.live import LiveChoice, LiveEvents, id_of, live_screen, load_live
from toolcrib.dashboard.screens.servers import server_screen, servers_screen
from toolcrib.dashboard.screens.story import story_screen
from toolcrib.dashboard.screens.tool import tool_data, tool_screen
from toolcrib.dashboard.screens.tools import map_data, map_screen, tools_screen
from toolcrib.dashboard.screens.why import why_screen
from toolcrib.dashboard.tool_catalog import ToolDetails, ToolFilter, ToolPage
from toolcrib.model import JsonObject

FieldOf: TypeAlias = Callable[[str], str]
"""The value of a field behind the path of a request, or ""."""


@dataclass(frozen=True, slots=True)
class ScreenRoute:
    """A page: `show` makes it of what `load` found. `load` raises `ToolcribError`."""

    show: Callable[[PageView, Any], h.Element]
    load: Callable[[Operations, FieldOf], object]


def _home(operations: Operations, _field: FieldOf) -> HomeFacts:
    return HomeFacts(operations.browser_servers(), operations.events.day())


def _live(operations: Operations, field: FieldOf) -> LiveEvents:
    return load_live(operations.events, LiveChoice.of_fields(field))


def _gaps(operations: Operations, field: FieldOf) -> Gaps:
    return load_gaps(operations.events, field("list"), field("from"))


def _clients(operations: Operations, field: FieldOf) -> ClientsView:
    return operations.clients.look(id_of(field("before")))


def _profile(operations: Operations, field: FieldOf) -> ProfileTools:
    return operations.clients.profile(field("name"), field("after"))


def _conversation(operations: Operations, field: FieldOf) -> ConversationView:
    return operations.clients.conversation(field("mark"))


def _story(operations: Operations, field: FieldOf) -> EventStory:
    return operations.events.story(id_of(field("id")))


def _tools(operations: Operations, field: FieldOf) -> ToolPage:
    return operations.tools.page(ToolFilter(*map(field, ToolFilter._fields)))


def _tool(operations: Operations, field: FieldOf) -> ToolDetails | None:
    return operations.tools.tool(field("name"))


def _why(operations: Operations, field: FieldOf) -> RankingAnswer:
    return operations.rankings.explain(RankingAsked(*map(field, RankingAsked._fields)))


SCREENS: Mapping[str, ScreenRoute] = {
    "/": ScreenRoute(home_screen, _home),
    "/inbox": ScreenRoute(inbox_screen, lambda operations, _: operations.definitions()),
    "/live": ScreenRoute(live_screen, _live),
    "/event": ScreenRoute(story_screen, _story),
    "/why": ScreenRoute(why_screen, _why),
    "/servers": ScreenRoute(lambda view, _: servers_screen(view), lambda _operations, _field: None),
    "/server": ScreenRoute(server_screen, lambda operations, field: operations.log(field("name"))),
    "/gaps": ScreenRoute(gaps_screen, _gaps),
    "/tools": ScreenRoute(tools_screen, _tools),
    "/tool": ScreenRoute(tool_screen, _tool),
    "/map": ScreenRoute(map_screen, lambda operations, _: operations.tools.map()),
    "/clients": ScreenRoute(clients_screen, _clients),
    "/profile": ScreenRoute(profile_screen, _profile),
    "/conversation": ScreenRoute(conversation_screen, _conversation),
}
"""Each by its path."""
DATA: Mapping[str, Callable[[Operations, FieldOf], JsonObject]] = {
    "/map-data": lambda operations, _: map_data(operations.tools.map()),
    "/map-tool": lambda operations, field: tool_data(operations.tools.mapped(field("at"))),
}
"""What scripts of the pages ask for, each by its path. None changes anything."""

__all__ = ["DATA", "SCREENS", "FieldOf", "ScreenRoute"]
