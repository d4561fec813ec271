"""What is known of a server's listing without reading it: how many tools, and what waits.

Whoever keeps the tools of a server keeps this beside them, so that a server that nobody uses need
not be read at all.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import Any, Self

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.identity import ServerIdentity
from toolcrib.sources.mcp.listing import KnownServer
from toolcrib.sources.mcp.tool_definitions import ToolDefinitions
from toolcrib.sources.mcp.trust import ServerJudgement

FORMAT = 1
TOOLS_FORMAT = 1
"""Of the tools that a listing becomes: another one whenever the same listing becomes others."""


def listing_stamp(
    version: str, mark: object, identity: ServerIdentity, config: ServerConfig
) -> str:
    """Of this version of a listing, judged under this mark; empty without one of them."""
    if not version or not mark or not isinstance(mark, str):
        return ""
    facts = (TOOLS_FORMAT, version, mark, *identity, *config.about_tools())
    return sha256(repr(facts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ListingSummary:
    """Of one listing, as it was judged under `stamp`.

    `waiting` is how many of its `tools` wait for review, `flagged` how many have hidden text.
    `held`: a decision could make more of them usable. `problem` is why nothing is approved,
    `problems` what is wrong with some tools. `offers` are the kinds of resources and prompts that
    may be shown. `protocol` is the revision that the server speaks. `cut`: it lists more tools.
    """

    stamp: str = ""
    tools: int = 0
    waiting: int = 0
    flagged: int = 0
    held: bool = False
    problem: str = ""
    problems: tuple[str, ...] = ()
    offers: frozenset[str] = frozenset()
    protocol: str = ""
    cut: bool = False

    @classmethod
    def of(
        cls,
        stamp: str,
        known: KnownServer,
        judgement: ServerJudgement,
        definitions: ToolDefinitions,
        *,
        admitted: bool,
    ) -> Self:
        """`admitted`: its resources and prompts may reach a model."""
        offers = known.listing.offers.items() if admitted else ()
        return cls(
            stamp=stamp,
            tools=len(definitions.tools),
            waiting=len(judgement.waiting()),
            flagged=sum(bool(one.flags) for one in judgement.tools.values()),
            held=judgement.held(),
            problem=judgement.problem,
            problems=definitions.problems,
            offers=frozenset(kind for kind, every in offers if every),
            protocol=known.facts.version,
            cut=not known.listing.complete,
        )

    def review_problem(self, server: str) -> str:
        """That tools of this server wait for the operator, or why they all do; empty if none do."""
        if self.problem:
            return f"MCP server {server!r}: nothing is approved: {self.problem}"
        message = f"MCP server {server!r}: waiting for review: {self.waiting}"
        return f"{message}; run `toolcrib review {server}`" if self.waiting else ""

    @classmethod
    def of_json(cls, given: Mapping[str, Any], stamp: str) -> Self | None:
        """Reads what `as_json` made, under this stamp; None if another version made it."""
        names = {each.name for each in fields(cls)} - {"stamp"}
        if given.get("format") != FORMAT or not names <= given.keys():
            return None
        values = {name: given[name] for name in names}
        values |= {"problems": tuple(values["problems"]), "offers": frozenset(values["offers"])}
        return cls(stamp, **values)

    def as_json(self) -> JsonObject:
        """All but the stamp, for whoever keeps it."""
        values: dict[str, Json] = {**asdict(self), "format": FORMAT}
        del values["stamp"]
        return values | {"problems": [*self.problems], "offers": sorted(self.offers)}
