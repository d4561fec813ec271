"""What the screen Clients asks: who is there, what each sees, their profiles, keys, conversations.

Connected clients, sets and the tools of profiles are known by a gateway that runs. The log of
events has what clients listed and did, also without one. Keys are in a file.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from toolcrib.dashboard.backends import AskGateway, OpenKeys
from toolcrib.dashboard.event_queries import NO_EVENTS, EventQueries
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.model import Event
from toolcrib.settings import GatewaySettings
from toolcrib.store import EventFilter, LoggedConversation

MOST_LISTS = 1_000
CONVERSATIONS = 25
MOST_IN_CONVERSATION = 200
DEFAULT_PROFILE = "default"


@dataclass(frozen=True, slots=True)
class SeenClient:
    """A client of the gateway, by what it calls itself. `connected`: it is there now.

    `listed` is its last list of tools; None if it was never seen to list any.
    """

    name: str
    caller: str
    version: str = ""
    mode: str = ""
    protocol: str = ""
    requests: int = 0
    connected: bool = False
    listed: Event | None = None


class ProfileView(NamedTuple):
    """A profile of the gateway. `tools` is how many it has; None where no gateway tells."""

    name: str
    mode: str
    tools: int | None = None


class KeyView(NamedTuple):
    """A key: for which profiles, when it was made and last used, when it expires; 0: never."""

    name: str
    profiles: tuple[str, ...]
    made_at: float
    used_at: float
    expires_at: float


class SeenSet(NamedTuple):
    """What a conversation was shown and may call, in order; `mark` names it in events."""

    mark: str
    caller: str
    tools: Sequence[str]
    unused_s: float


@dataclass(frozen=True, slots=True)
class ClientsView:
    """Everything about clients at one moment. `older`: there are older conversations."""

    clients: Sequence[SeenClient] = ()
    profiles: Sequence[ProfileView] = ()
    keys: Sequence[KeyView] = ()
    conversations: Sequence[LoggedConversation] = ()
    older: bool = False
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileTools:
    """Some names of a profile's tools by the alphabet, after so many others; how many there are."""

    name: str
    names: Sequence[str] = ()
    tools: int = 0
    before: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ConversationView:
    """The events of one conversation, the earliest first, and the sets that are still there."""

    mark: str
    events: Mapping[int, Event]
    sets: Sequence[SeenSet] = ()


class ClientQueries:
    """Reads what there is about clients, and takes keys back. Raises `ToolcribError`."""

    def __init__(self, events: EventQueries, ask: AskGateway, keys: OpenKeys) -> None:
        self._events = events
        self._ask = ask
        self._keys = keys

    def look(self, before: int = 0) -> ClientsView:
        """How things are now; with conversations before that id of an event."""
        status, profiles, problems = self._gateway()
        with self._events.file() as (_, file):
            which = EventFilter(("list",))
            lists = list(file.newest(MOST_LISTS, which).values()) if file else list[Event]()
            known = file.conversations(CONVERSATIONS + 1, before) if file else ()
        try:
            keys = self._key_views()
        except ToolcribError as error:
            keys, problems = (), (*problems, str(error))
        return ClientsView(
            _clients(status, lists),
            profiles or _profiles(self._events.settings().gateway),
            keys,
            known[:CONVERSATIONS],
            older=len(known) > CONVERSATIONS,
            problems=problems,
        )

    def profile(self, name: str, after: str) -> ProfileTools:
        """The next tools of a profile."""
        try:
            reply = self._ask("profiles", name=name, after=after)
        except ConfigError as error:
            return ProfileTools(name, problem=str(error))
        if reply is None:
            problem = (
                "no gateway runs; start it with `toolcrib serve` to see the tools of a profile"
            )
            return ProfileTools(name, problem=problem)
        told = cast("Mapping[str, Any]", reply)
        return ProfileTools(name, told["names"], told["tools"], told["before"])

    def conversation(self, mark: str) -> ConversationView:
        """What happened in a conversation; nothing of one that is not known."""
        if not mark:
            return ConversationView(mark, {})
        with self._events.file() as (_, file):
            which = EventFilter(conversation=mark)
            found = file.after(0, MOST_IN_CONVERSATION, which) if file else NO_EVENTS
        marks = {str(each.facts.get("set", "")) for each in found.values()} - {""}
        sets = [each for each in self._sets() if each.mark in marks]
        return ConversationView(mark, self._events.with_texts(found), sets)

    def remove_key(self, name: str) -> None:
        """Take a key back: it is refused from then on."""
        with closing(self._keys()) as keys:
            keys.remove(name)

    def _key_views(self) -> Sequence[KeyView]:
        with closing(self._keys()) as keys:
            return [
                KeyView(
                    each.name, each.profiles, each.made_at, each.used_at, each.expires_at or 0.0
                )
                for each in keys.all()
            ]

    def _gateway(self) -> tuple[Sequence[Mapping[str, Any]], list[ProfileView], tuple[str, ...]]:
        """What a gateway tells: connected clients and profiles, and what went wrong."""
        try:
            status = cast("Mapping[str, Any] | None", self._ask("status"))
            told = cast("Sequence[Mapping[str, Any]] | None", self._ask("profiles"))
        except ConfigError as error:
            return (), [], (str(error),)
        profiles = [ProfileView(*(each[key] for key in ProfileView._fields)) for each in told or ()]
        return (status or {}).get("clients", ()), profiles, ()

    def _sets(self) -> Sequence[SeenSet]:
        try:
            told = cast("Sequence[Mapping[str, Any]] | None", self._ask("sets"))
        except ConfigError:
            return ()  # the page says what is wrong with the gateway
        keys = ("set", "caller", "tools", "unused_s")
        return [SeenSet(*(each[key] for key in keys)) for each in told or ()]


def _clients(status: Sequence[Mapping[str, Any]], lists: Sequence[Event]) -> Sequence[SeenClient]:
    """Those that are there, and those that listed lately; `lists` has the newest first."""
    last = {(each.client, each.caller): each for each in reversed(lists)}
    seen: list[SeenClient] = []
    for each in status:
        name, caller = str(each["name"]), f"{each['principal']}@{each['profile']}"
        seen.append(
            SeenClient(
                name,
                caller,
                str(each["version"]),
                str(each["mode"]),
                str(each["protocol"]),
                int(each["requests"]),
                connected=True,
                listed=last.get((name, caller)),
            )
        )
    there = {(each.name, each.caller) for each in seen}
    gone = [
        SeenClient(*key, mode=str(each.facts.get("mode", "")), listed=each)
        for key, each in sorted(last.items(), key=lambda each: -each[1].at)
        if key not in there
    ]
    return [*seen, *gone]


def _profiles(settings: GatewaySettings) -> list[ProfileView]:
    named = {DEFAULT_PROFILE: "auto", **{key: each.mode for key, each in settings.profiles.items()}}
    return [ProfileView(name, mode) for name, mode in named.items()]
