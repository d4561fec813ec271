"""Clients: what each sees and what that saves; profiles, keys, and conversations."""

from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import urlencode

import htpy as h

from toolcrib.dashboard.client_queries import (
    ClientsView,
    ConversationView,
    KeyView,
    ProfileTools,
    ProfileView,
    SeenClient,
    SeenSet,
)
from toolcrib.dashboard.page import (
    PageView,
    button,
    code_words,
    empty,
    page,
    problems_of,
    why_no_buttons,
    within_room,
)
from toolcrib.dashboard.screens.event_rows import (
    about,
    count,
    duration,
    event_address,
    facts_list,
    moment,
    names_of,
)
from toolcrib.dashboard.screens.tables import data_row, data_table
from toolcrib.dashboard.spelling import spelt_short
from toolcrib.model import Event
from toolcrib.store import LoggedConversation

ROOM = 10_000
REVEALS_ROOM = 24_000
SETS_ROOM = 12_000
NAMES_ROOM = 36_000


def clients_screen(view: PageView, seen: ClientsView) -> h.Element:
    """All of them, those that are connected first."""
    clients = [_client(each) for each in seen.clients]
    return page(
        view,
        "Clients",
        h.h1["Clients"],
        problems_of((*view.overview.problems, *seen.problems)),
        _section("What each sees", "seen", _CLIENTS, clients) or _nothing(),
        _section("Profiles", "profiles", _PROFILES, [_profile(each) for each in seen.profiles]),
        _section("Keys", "keys", _KEYS, [_key(view, each) for each in seen.keys]),
        why_no_buttons(view) if seen.keys else None,
        _section(
            "Conversations",
            "conversations",
            _CONVERSATIONS,
            [_conversation(each) for each in seen.conversations],
        ),
        _older(seen),
        wide=True,
    )


_CLIENTS = ("Client", "Mode", "Caller", "Sees", "Saved", "Now")
_PROFILES = ("Profile", "Mode", "Tools")
_KEYS = ("Key", "Profiles", "Made", "Last used", "Expires", "Take back")
_CONVERSATIONS = ("Conversation", "Client", "Last", ">Searches", ">Calls")


def _section(title: str, id: str, columns: Sequence[str], items: Sequence[h.Element]) -> h.Node:
    if not items:
        return None
    rows, left = within_room(items, ROOM)
    return h.section(id=id, aria_labelledby=f"{id}-title")[
        h.h2(id=f"{id}-title")[title],
        data_table(columns, rows, title),
        h.p(".hint")[f"{left} more are not shown here."] if left else None,
    ]


def _client(client: SeenClient) -> h.Element:
    version = f" {client.version}" if client.version else ""
    listed = client.listed
    tools, every = (listed.facts.get("tools"), listed.facts.get("of")) if listed else (None, None)
    now: h.Node = f"connected, {client.requests:,} requests" if client.connected else None
    return data_row(
        _CLIENTS,
        [spelt_short(client.name or "unnamed", 60), spelt_short(version, 20)],
        spelt_short(client.mode or "–", 20),
        spelt_short(client.caller, 60),
        f"{count(tools)} of {count(every)}" if listed else "not listed yet",
        _saved(listed),
        now or ["last ", moment(listed.at if listed else 0.0)],
    )


def _saved(listed: Event | None) -> str:
    """Which part of the tokens of all definitions its list spares."""
    eager = listed.facts.get("eager") if listed else None
    sent = listed.facts.get("sent") if listed else None
    if not isinstance(eager, int) or not isinstance(sent, int) or eager <= 0:
        return "–"
    return f"{max(0.0, 1 - sent / eager):.0%}"


def _profile(profile: ProfileView) -> h.Element:
    where = f"/profile?{urlencode({'name': profile.name}, errors='replace')}"
    tools: h.Node = (
        "known while a gateway runs"
        if profile.tools is None
        else h.a(href=where)[f"{profile.tools:,} tools"]
    )
    return data_row(_PROFILES, spelt_short(profile.name, 60), spelt_short(profile.mode, 20), tools)


def _key(view: PageView, key: KeyView) -> h.Element:
    return data_row(
        _KEYS,
        spelt_short(key.name, 64),
        spelt_short(", ".join(key.profiles), 80),
        _day(key.made_at),
        moment(key.used_at) if key.used_at else "never",
        _day(key.expires_at) if key.expires_at else "never",
        h.div(".row-action")[button(view, "remove_key", (key.name,), key.name)],
    )


def _conversation(conversation: LoggedConversation) -> h.Element:
    mark, caller, client, began, ended, searches, calls, _ = conversation
    where = f"/conversation?{urlencode({'mark': mark}, errors='replace')}"
    return data_row(
        _CONVERSATIONS,
        h.a(href=where)[spelt_short(mark, 20)],
        spelt_short(client or caller, 60),
        [moment(ended), f", {duration(ended - began)}" if ended - began >= 1 else ""],
        f"{searches:,}",
        f"{calls:,}",
    )


def _older(seen: ClientsView) -> h.Node:
    if not seen.older:
        return None
    where = f"/clients?{urlencode({'before': seen.conversations[-1].newest})}#conversations"
    return h.p(".pages")[h.a(href=where, rel="next")["Older conversations"]]


def _nothing() -> h.Element:
    words = "`toolcrib setup` connects yours. What each sees, and what that saves, appears here."
    return empty("No client yet", code_words(words))


def profile_screen(view: PageView, profile: ProfileTools) -> h.Element:
    """The tools of one profile, page by page."""
    back = h.p(".back")[h.a(href="/clients#profiles")["All profiles"]]
    title = h.h1["Profile ", spelt_short(profile.name, 60)]
    if not profile.names:
        none = empty("No tools", spelt_short(profile.problem or "No more tools.", 300))
        return page(view, "Profile", back, title, none, wide=True)
    names, _ = within_room([h.li[spelt_short(each, 120)] for each in profile.names], NAMES_ROOM)
    end = profile.before + len(names)
    after = {"name": profile.name, "after": profile.names[len(names) - 1]}
    return page(
        view,
        "Profile",
        back,
        title,
        h.p(".hint")[f"{profile.before + 1} to {end} of {profile.tools:,} tools"],
        h.ul(".names")[names],
        h.p(".pages")[
            h.a(href=f"/profile?{urlencode(after, errors='replace')}", rel="next")["More"]
        ]
        if end < profile.tools
        else None,
        wide=True,
    )


def conversation_screen(view: PageView, shown: ConversationView) -> h.Element:
    """What one conversation was shown, in order, and what that cost."""
    back = h.p(".back")[h.a(href="/clients#conversations")["All conversations"]]
    if not shown.events:
        gone = empty("No such conversation", "It is too old, or it was never there.")
        return page(view, "Conversation", back, h.h1["Conversation"], gone, wide=True)
    events = shown.events
    last = max(events)
    return page(
        view,
        "Conversation",
        back,
        h.h1["Conversation ", spelt_short(shown.mark, 20)],
        facts_list(_sums(list(events.values()))),
        h.p[h.a(href=event_address(last))["Everything that happened in it"]],
        _reveals({id: each for id, each in events.items() if each.kind == "reveal"}),
        _set_section(shown.sets),
        wide=True,
    )


def _sums(events: Sequence[Event]) -> dict[str, h.Node]:
    kinds = [each.kind for each in events]
    lists = [each for each in events if each.kind == "list"]
    return {
        "Client": spelt_short(events[-1].client, 60) if events[-1].client else None,
        "Caller": spelt_short(events[-1].caller, 60),
        "From": [moment(events[0].at), " to ", moment(events[-1].at)],
        "Searches": f"{kinds.count('search')}",
        "Calls": f"{kinds.count('call')}",
        "Tokens shown": f"{sum(map(_tokens, events)):,}",
        "Saved": _saved(lists[-1]) if lists else None,
    }


def _tokens(event: Event) -> int:
    tokens = event.facts.get("tokens") if event.kind == "reveal" else event.facts.get("sent")
    return tokens if isinstance(tokens, int) else 0


def _reveals(reveals: dict[int, Event]) -> h.Node:
    if not reveals:
        return h.p(".hint")["It was shown no tools by a search."]
    rows, left = within_room([_reveal(id, each) for id, each in reveals.items()], REVEALS_ROOM)
    return [
        h.h2["Shown, in order"],
        h.ol(".steps")[rows],
        h.p(".hint")[f"{left} later ones are not shown."] if left else None,
    ]


def _reveal(id: int, event: Event) -> h.Element:
    tokens = event.facts.get("tokens")
    return h.li[
        h.p(".step")[moment(event.at), " ", h.a(href=event_address(id))[about(event)]],
        facts_list(
            {
                "Tools": f"{len(names_of(event.facts.get('tools')))}",
                "Tokens": count(tokens) if isinstance(tokens, int) else None,
                "Set": spelt_short(event.facts.get("set") or "", 20),
            }
        ),
    ]


def _set_section(sets: Sequence[SeenSet]) -> h.Node:
    if not sets:
        return None
    shown, _ = within_room([_set(each) for each in sets], SETS_ROOM)
    return [h.h2["Sets that it may still call from"], shown]


def _set(shown: SeenSet) -> h.Element:
    names, left = within_room([h.li[spelt_short(each, 90)] for each in shown.tools], SETS_ROOM // 2)
    return h.div[
        h.h3[spelt_short(shown.mark, 20)],
        h.p(".hint")[f"{len(shown.tools)} tools, last used {duration(shown.unused_s)} ago"],
        h.ol(".names")[names],
        h.p(".hint")[f"and {left} more"] if left else None,
    ]


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%Y-%m-%d")
