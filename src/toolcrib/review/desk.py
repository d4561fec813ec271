"""The desk at which the operator decides about tools.

What is decided on is what the operator has seen: a definition that changes in between is not
decided on. Verdicts are written here and nowhere else. Nothing that a model can reach may import
this.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolcrib.errors import AmbiguousName, ConfigError
from toolcrib.model import Event, JsonObject
from toolcrib.names import Origin, overlaps
from toolcrib.observe import Record, drop
from toolcrib.pool import NameResolver, ambiguous_name
from toolcrib.review.changes import Change, changes, configuration_changes, entry_changes
from toolcrib.sources.mcp import McpSource, ReviewStatus, unknown_server
from toolcrib.store import Decision, DecisionStore


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A tool of a server, as it is listed now; without a `tool`, the entry of a server.

    An entry that stands in a file of others waits until the operator says yes: see `ServerTrust`.
    `name` is the name that models would see, `tool` the server's own. `changes` are the differences
    to what was approved before; all fields, if nothing was. `configuration` are those of its
    server's entry since then, the same for all of its tools. `overlaps` are the prefixes of other
    servers that `name` begins with too: by the name alone, nobody can tell whose tool it is.
    `hidden` are the first few characters that are hidden in it, spelt out, and where.
    """

    name: str
    server: str
    tool: str
    status: ReviewStatus
    pin: str
    flags: tuple[str, ...]
    changes: tuple[Change, ...]
    overlaps: tuple[str, ...] = ()
    configuration: tuple[Change, ...] = ()
    hidden: tuple[str, ...] = ()

    @property
    def spelt_out(self) -> str:
        """Whose tool it is, and which."""
        return f"{self.server}/{self.tool}" if self.tool else self.server


class Desk:
    """Decides about the tools of some servers, by what is known of them. Starts none.

    `record` hears of every decision.
    """

    def __init__(
        self, sources: Sequence[McpSource], decisions: DecisionStore, record: Record = drop
    ) -> None:
        self._sources = sources
        self._decisions = decisions
        self._record = record

    def problems(self) -> tuple[str, ...]:
        """Why nothing of some servers is approved, if that is so; a decision mends it."""
        found = (source.judge().problem for source in self._sources)
        return tuple(dict.fromkeys(filter(None, found)))

    def items(self, server: str = "") -> tuple[ReviewItem, ...]:
        """What waits, and what was rejected; of one server, or of all.

        Raises `ConfigError` for a server that is not configured.
        """
        return tuple(item for item in self.every(server) if item.status != "approved")

    def every(self, server: str = "") -> tuple[ReviewItem, ...]:
        """The same, with what is approved."""
        sources = [source for source in self._sources if server in ("", source.server)]
        if server and not sources:
            raise unknown_server(server, [each.server for each in self._sources])
        servers = [Origin("mcp", each.id or "", "") for each in self._sources]
        return tuple(item for source in sources for item in _review_items(source, servers))

    def approve(self, item: ReviewItem) -> None:
        """Let it be shown and called as it was seen. Raises `ConfigError` and `StoreError`."""
        source, definition = self._seen(item)
        write_approval(self._decisions, source, item.tool, item.pin, definition)
        self._record(_decided(item, "approved"))

    def reject(self, item: ReviewItem) -> None:
        """Leave the tool out until it changes again, or is approved, whatever it was before.

        Raises `ConfigError`, also for a server of which nothing is reviewed, and `StoreError`.
        """
        if any(each.trust.is_open for each in self._sources if each.server == item.server):
            todo = f"`toolcrib disable {item.spelt_out}` keeps the tool out"
            raise ConfigError(f"server {item.server!r} is `open`, so nothing is reviewed; {todo}")
        source, definition = self._seen(item)
        write_rejection(self._decisions, source, item.tool, item.pin, definition)
        self._record(_decided(item, "rejected"))

    def settle(self) -> bool:
        """Once nothing waits, trust new tools at first sight again; whether that is new."""
        if self._decisions.trusts_first_sight or undecided(self.items()):
            return False
        self._decisions.set_first_sight(trusted=True)
        return True

    def _seen(self, item: ReviewItem) -> tuple[str, str]:
        """Under which source it is filed, and what is decided on."""
        source = next(each for each in self._sources if each.server == item.server)
        if not item.tool and source.trust.identity.entry == item.pin:
            return source.trust.entry_source, source.trust.entry
        judged = source.judge().tools.get(item.tool)
        if judged is None or judged.pin != item.pin:
            raise ConfigError(f"{item.name!r} has changed meanwhile; run `toolcrib review` again")
        return source.trust.source, judged.listed.written()


def _decided(item: ReviewItem, code: str) -> Event:
    facts: JsonObject = {"pin": item.pin, "flags": list(item.flags), "by": "operator"}
    return Event(
        time.time(), "definition", name=item.tool, server=item.server, code=code, facts=facts
    )


def undecided(items: Sequence[ReviewItem]) -> list[ReviewItem]:
    """Those that nobody has decided on."""
    return [item for item in items if item.status != "rejected"]


def find_item(name: str, items: Sequence[ReviewItem]) -> ReviewItem:
    """The item of a name: `server/tool`, the one models would see, or the server's own.

    Raises `AmbiguousName` with the candidates, or `UnknownTool` with the nearest names. A name that
    could be another server's tool is ambiguous even where only one of them waits.
    """
    full = Counter(item.spelt_out for item in items)
    if full[name] > 1:  # one server has "/" in its name, or a tool of it has
        raise AmbiguousName(f"{name!r} is a tool of two servers; rename one of them")
    by_name = {item.spelt_out: item for item in items}
    names = NameResolver(by_name, lambda item: (item.name, item.tool), where="waits for review")
    item = names.resolve(name)
    if item.overlaps and item.name == name:
        raise ambiguous_name(name, [item.spelt_out])
    return item


def _review_items(source: McpSource, servers: Sequence[Origin]) -> Iterator[ReviewItem]:
    tools, trust = source.judge().tools, source.trust
    if waits := trust.judge_entry():
        shown = entry_changes(waits.approved, trust.entry)
        yield ReviewItem(
            source.server, source.server, "", waits.status, trust.identity.entry, (), shown
        )
    another = any(
        each.approved and each.approved.config_hash != each.listed.config_hash
        for each in tools.values()
    )
    configuration = configuration_changes(trust.approved_entry(), trust.entry, another=another)
    for tool, judged in tools.items():
        origin = Origin("mcp", source.id or "", tool)
        yield ReviewItem(
            name=origin.plain_name(),
            server=source.server,
            tool=tool,
            status=judged.status,
            pin=judged.pin,
            flags=judged.flags,
            changes=changes(judged.approved, judged.listed),
            overlaps=overlaps([origin], servers).get(origin, ()),
            configuration=configuration,
            hidden=judged.listed.hidden if judged.flags else (),
        )


def write_approval(
    decisions: DecisionStore, source: str, name: str, pin: str, definition: str
) -> None:
    """From now on this definition, and no other of this name, may be shown and called."""
    row = Decision(source, name, "approved", pin, "operator", time.time(), definition)
    decisions.approve(row)


def write_rejection(
    decisions: DecisionStore, source: str, name: str, pin: str, definition: str
) -> None:
    """Leave this definition out, also if it was approved. Another approved one stays approved."""
    row = Decision(source, name, "rejected", pin, "operator", time.time(), definition)
    decisions.reject(row)
