"""What a server said when it was last reached: its `initialize` answer, and what it lists.

This is kept, so that a server need not run for its tools to be known. It also says how to speak
with the server the next time: by `initialize`, or by `server/discover` (2026-07-28).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, TypeGuard

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp.config.server import ServerConfig

OfferKind = Literal["resources", "templates", "prompts"]
LONGEST_NAME = 128


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server said of itself when it was last reached.

    `version` is the protocol revision that was agreed on. `discover` is its answer to
    `server/discover`, if it is of the modern era; None if it is of the era of the handshake.
    """

    version: str
    discover: JsonObject | None = None
    capabilities: JsonObject = field(default_factory=dict[str, Json])
    info: JsonObject = field(default_factory=dict[str, Json])
    instructions: str = ""

    @property
    def title(self) -> str:
        """What the server calls itself, for people; empty if it does not say."""
        title = self.info.get("title") or self.info.get("name")
        return title if isinstance(title, str) else ""


@dataclass(frozen=True)
class ServerListing:
    """The raw tools of a server, in its order; not `complete` if the list was cut at a limit.

    `offers` are its raw resources, resource templates and prompts, by `OfferKind`. A kind is
    missing if the server failed to list it.
    """

    tools: Sequence[JsonObject] = ()
    complete: bool = True
    offers: Mapping[str, Sequence[JsonObject]] = field(
        default_factory=dict[str, Sequence[JsonObject]]
    )

    @cached_property
    def named(self) -> "NamedTools":
        """The tools by name. Of two tools with one name, the first counts."""
        return _by_name(self)


@dataclass(frozen=True, slots=True)
class ServerIntroduction:
    """What a server said when it was reached, and the client capabilities that we `declared`."""

    facts: ServerFacts
    listing: ServerListing
    declared: JsonObject = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class KnownServer:
    """The last listing of a server, and which server. `fetched` is in seconds since the epoch.

    `start_s` is how long it took from the start to the listing. `declared` are the client
    capabilities that the server was told, on which its list may depend.
    """

    server: str
    config_hash: str
    facts: ServerFacts
    listing: ServerListing
    fetched: float
    start_s: float = 0.0
    declared: Mapping[str, Json] = field(default_factory=dict[str, Json])


class NamedTools(NamedTuple):
    """The raw tools that have a usable name, in the server's order; what is wrong with the rest."""

    tools: Mapping[str, JsonObject]
    problems: tuple[str, ...]


def _by_name(listing: ServerListing) -> NamedTools:
    tools: dict[str, JsonObject] = {}
    problems: list[str] = []
    for raw in listing.tools:
        name = raw.get("name")
        if not _is_name(name):
            problems.append("a tool without a usable name is left out")
        elif tools.setdefault(name, raw) is not raw:
            problems.append(f"{name!r} is listed twice; the first counts")
    if not listing.complete:
        problems.append(f"its list was cut after {len(tools)} tools")
    return NamedTools(tools, tuple(problems))


def changed_names(before: ServerListing, now: ServerListing) -> frozenset[str]:
    """The names of tools that are others, came or went. What is the same is the same object."""
    old, new = before.named.tools, now.named.tools
    return frozenset(
        (*(name for name, raw in new.items() if old.get(name) is not raw), *(old.keys() - new))
    )


def _is_name(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()


class ProtocolMode(NamedTuple):
    """How to agree on a protocol revision: probe, `initialize`, or the one that is remembered."""

    name: str
    discover: JsonObject | None = None


def protocol_modes(
    remembered: ServerFacts | None, *, is_old: bool = False
) -> Sequence[ProtocolMode]:
    """What to try, in order. A server that fails on the probe gets `initialize` next.

    With `is_old`, which its transport tells, it gets nothing else.
    """
    if is_old:
        return (ProtocolMode("legacy"),)
    if remembered is None:
        return ProtocolMode("auto"), ProtocolMode("legacy")
    if remembered.discover is None:
        return ProtocolMode("legacy"), ProtocolMode("auto")
    return ProtocolMode(remembered.version, remembered.discover), ProtocolMode("auto")


def client_capabilities(config: ServerConfig) -> JsonObject:
    """What we declare to a server, whoever calls it. What it lists may depend on that."""
    elicitation: JsonObject = {"elicitation": {"form": {}, "url": {}}} if config.elicitation else {}
    sampling: JsonObject = {"sampling": {}} if config.sampling else {}
    return {**elicitation, "roots": {"listChanged": True}, **sampling}
