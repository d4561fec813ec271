"""What is known of a server that need not be running: the last good listing, as it came."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp.server import ServerConfig

Offer = Literal["resources", "templates", "prompts"]


def declared(config: ServerConfig) -> JsonObject:
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
class Listing:
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
class Greeting:
    """What a server said when it was reached, and what it was told before."""

    facts: ServerFacts
    listing: Listing
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
    listing: Listing
    fetched: float
    start_s: float = 0.0
    declared: Mapping[str, Json] = field(default_factory=dict[str, Json])
