"""What a server said when it was last reached: its `initialize` answer, and what it lists.

This is kept, so that a server need not run for its tools to be known. It also says how to speak
with the server the next time: by `initialize`, or by `server/discover` (2026-07-28).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeGuard

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp.config.server import ServerConfig

OfferKind = Literal["resources", "templates", "prompts"]


def client_capabilities(config: ServerConfig) -> JsonObject:
    """What we tell a server that we can be asked, whoever calls it: its list may depend on that."""
    may: JsonObject = {"elicitation": {"form": {}, "url": {}}} if config.elicitation else {}
    return {**may, "roots": {"listChanged": True}, **({"sampling": {}} if config.sampling else {})}


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server said of itself when it was last reached.

    `version` is the protocol revision that was agreed on. `discover` is its answer to
    `server/discover`, which stands for the modern era; None stands for the era of the handshake.
    """

    version: str
    discover: JsonObject | None = None
    capabilities: JsonObject = field(default_factory=dict[str, Json])
    info: JsonObject = field(default_factory=dict[str, Json])
    instructions: str = ""

    @property
    def title(self) -> str:
        """What the server calls itself, for people; empty if it does not say."""
        said = self.info.get("title") or self.info.get("name")
        return said if isinstance(said, str) else ""


@dataclass(frozen=True, slots=True)
class ServerListing:
    """The raw tools of a server, in its order. One that is not complete was cut at a cap.

    `offers` is what it has beside tools, by kind (`Offer`), as raw. A kind that is missing is one
    that it failed to list.
    """

    tools: Sequence[JsonObject] = ()
    complete: bool = True
    offers: Mapping[str, Sequence[JsonObject]] = field(
        default_factory=dict[str, Sequence[JsonObject]]
    )


@dataclass(frozen=True, slots=True)
class ServerIntroduction:
    """What a server said when it was reached, and what it was told before."""

    facts: ServerFacts
    listing: ServerListing
    declared: JsonObject = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A listing with what it belongs to. `fetched` is in seconds since the epoch.

    `start_s` is how long it took from nothing to the listing; `declared` are the capabilities of a
    client that the server was told of, on which its list may depend.
    """

    server: str
    config_hash: str
    facts: ServerFacts
    listing: ServerListing
    fetched: float
    start_s: float = 0.0
    declared: Mapping[str, Json] = field(default_factory=dict[str, Json])


# The tools of a listing by their own names: those that have a usable one, each name once.

LONGEST_NAME = 128


class NamedTools(NamedTuple):
    """Raw tools by name, in the server's order, and what was wrong with the others."""

    tools: Mapping[str, JsonObject]
    problems: tuple[str, ...]


def tools_by_name(listing: ServerListing) -> NamedTools:
    """Of two tools with one name, the first counts."""
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


def _is_name(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()


# The era of a server's protocol: probed once, then remembered; never that of whoever calls.


class ProtocolMode(NamedTuple):
    """How to agree on a protocol revision: probe, shake hands, or take up what is remembered."""

    name: str
    discover: JsonObject | None = None


def protocol_modes(
    remembered: ServerFacts | None, *, is_old: bool = False
) -> Sequence[ProtocolMode]:
    """What to try, in order. A server that chokes on the probe is then asked the old way.

    One that is old for sure, by its transport, is asked in no other.
    """
    if is_old:
        return (ProtocolMode("legacy"),)
    if remembered is None:
        return ProtocolMode("auto"), ProtocolMode("legacy")
    if remembered.discover is None:
        return ProtocolMode("legacy"), ProtocolMode("auto")
    return ProtocolMode(remembered.version, remembered.discover), ProtocolMode("auto")
