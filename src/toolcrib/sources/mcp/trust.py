"""Which tools of a server may be used: what it lists, compared with what was decided.

    pinned   the first list of a server is approved, except for tools with hidden text in them.
             Whatever comes later, or differs from what was approved, waits for the operator.
    strict   the first list waits as well
    open     nothing waits

An empty list does not count as the first: there was nothing to trust. The tools of a changed server
wait, and the operator sees what was approved of the server before. A server has changed if its
program has; in a file that is not ours, if anything in its entry has (`identity`). Only the
operator overrules a decision; nothing here does.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from toolcrib.errors import StoreError
from toolcrib.model import JsonObject
from toolcrib.sources.definition import Definition, read_definition
from toolcrib.sources.mcp.config.secret_values import masked_entry
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.identity import ServerIdentity
from toolcrib.sources.mcp.listing import KnownServer
from toolcrib.store import Decision, DecisionStore, Stores, ToolDecisions
from toolcrib.strict_json import canonical_json

ReviewStatus = Literal["approved", "changed", "unreviewed", "rejected"]


@dataclass(frozen=True, slots=True)
class ToolJudgement:
    """One tool: its definition as `listed` now, and as it was `approved`, if it ever was.

    Only a tool whose status is "approved" may be called. Of one that is "unreviewed" or "rejected"
    no word may reach a model. `pin` and `flags` are those of the listed definition; the flags name
    the ways in which text is hidden in it.
    """

    status: ReviewStatus
    listed: Definition
    pin: str
    approved: Definition | None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerJudgement:
    """The tools of a server by their own names. `problem`: why nothing is approved."""

    tools: Mapping[str, ToolJudgement] = field(default_factory=dict[str, ToolJudgement])
    problem: str = ""

    def held(self) -> bool:
        """Whether a decision could make more tools usable."""
        return any(one.status != "approved" for one in self.tools.values())

    def waiting(self) -> list[str]:
        """The names of the tools that wait for the operator."""
        return [name for name, one in self.tools.items() if one.status in ("changed", "unreviewed")]


NOTHING = ServerJudgement()
ENTRY = "entry"
"""The kind of the sources under which it is filed whether an entry of others may be started."""


class EntryJudgement(NamedTuple):
    """An entry that waits for a yes, or got a no; with how the server was `approved` before."""

    status: ReviewStatus
    approved: str | None


class ServerTrust:
    """Judges the tools of one server. Its decisions are filed under `source`.

    `is_open`: no tool of it waits, and nothing is decided.
    """

    def __init__(
        self, config: ServerConfig, decisions: DecisionStore, identity: ServerIdentity
    ) -> None:
        self.source = f"mcp:{config.id}#{identity.hash}"
        self.entry_source = f"{ENTRY}:{config.id}#{identity.entry}"
        self._is_own = config.is_own
        self.identity = identity
        self._formers = [
            f"mcp:{config.id}#{each}"
            for each in (identity.entry, identity.former)
            if each not in ("", identity.hash)
        ]
        self._policy = config.trust
        about = {"tool_prefix": config.prefix, "description": config.description}
        self._entry: JsonObject = {
            **masked_entry(config.transport),
            **{key: text for key, text in about.items() if text},
            **config.trust_keys(),
        }
        self._decisions = decisions

    def mark(self) -> str:
        """The same as long as a listing would be judged the same; empty if that cannot be told."""
        try:
            return "open" if self.is_open else self._decisions.mark(self.source)
        except StoreError:
            return ""

    def version(self) -> object:
        """The same where `mark` tells; else another one whenever anything is decided.

        None if decisions cannot be read.
        """
        try:
            return self.mark() or self._decisions.version()
        except StoreError:
            return None

    def check_current(self) -> None:
        """Raises `StoreError` if what was decided lately may not be known here.

        Also of a server that is `open`: it may have been disabled, or denied by a rule.
        """
        self._decisions.check_current()

    def admits(self, judgement: ServerJudgement) -> bool:
        """Whether the resources and prompts of a server, which nobody reviews, may reach a model.

        They may if one of its tools is approved: then somebody trusts the server, by a decision or
        at first sight. A server without tools is trusted at first sight alone.
        """
        if judgement.tools:
            return any(one.status == "approved" for one in judgement.tools.values())
        return self._policy != "strict" and not judgement.problem

    def judge(
        self, known: KnownServer, before: ServerJudgement = NOTHING, *, as_decided: bool = False
    ) -> ServerJudgement:
        """Judge all tools of a listing. If decisions cannot be read, nothing is approved.

        Tools that are as they were when they were judged `before` are not hashed and scanned again.
        `as_decided`: nothing else was decided since then.
        """
        listed = self._listed(known, before)
        if self.is_open:
            return ServerJudgement({name: _approved(one) for name, one in listed.items()})
        if as_decided and not before.problem and not _has_new(listed):
            return ServerJudgement(
                {name: one for name, one in listed.items() if isinstance(one, ToolJudgement)}
            )
        try:
            decided, others = self._decided(listed), self._decisions.elsewhere(self.source)
        except StoreError as error:
            return ServerJudgement(
                {name: _judgement(one, None) for name, one in listed.items()}, str(error)
            )
        judgement = ServerJudgement(
            {n: _judgement(one, decided.get(n), others.get(n)) for n, one in listed.items()}
        )
        with suppress(StoreError):  # this is only for display
            if listed and not judgement.waiting():
                self._decisions.configured(self.source, self.entry)
        return judgement

    def may_start(self) -> bool:
        """Whether the server may be started: its entry is our own, or the operator has said yes.

        Who approved a tool of the very entry has said yes to that. Raises `StoreError`.
        """
        if self._is_own:
            return True
        self._inherit()
        said = self._decisions.of(self.entry_source).get("")
        tools = self._decisions.of(self.source).values()
        return bool(said.approved) if said else any(each.approved for each in tools)

    def judge_entry(self) -> EntryJudgement | None:
        """The entry for the review; None where the server may be started."""
        try:
            if self.may_start():
                return None
            was_rejected = "" in self._decisions.of(self.entry_source)
            before = self._decisions.elsewhere(self.entry_source).get("")
        except StoreError:  # the judgement of its tools says what is wrong
            return EntryJudgement("unreviewed", None)
        approved = before.definition if before else self.approved_entry()
        changed: ReviewStatus = "unreviewed" if approved is None else "changed"
        return EntryJudgement("rejected" if was_rejected else changed, approved)

    @property
    def is_open(self) -> bool:
        return self._policy == "open"

    def approved_entry(self) -> str | None:
        """How the server was configured when it was approved last; None if nobody knows."""
        try:
            ours = self._decisions.configuration(self.source)
            return self._decisions.configuration_elsewhere(self.source) if ours is None else ours
        except StoreError:
            return None

    @property
    def entry(self) -> str:
        """How it is configured now, without secrets, as JSON."""
        return canonical_json(self._entry)

    def _listed(
        self, known: KnownServer, before: ServerJudgement
    ) -> "Mapping[str, ToolJudgement | _ListedTool]":
        """Every tool of a listing; one that is as it was judged before, as it was judged."""
        facts = known.facts
        of_server = facts.title, facts.instructions, self.identity.hash
        found: dict[str, ToolJudgement | _ListedTool] = {}
        for name, raw in known.listing.named.tools.items():
            earlier = before.tools.get(name)
            if earlier and earlier.listed.is_of(raw, of_server):
                found[name] = earlier
            else:
                found[name] = _ListedTool.of(Definition(raw, *of_server))
        return found

    def _renewed(self, row: Decision) -> Decision:
        """The same decision, for the server as it is identified now."""
        definition = _read_or_none(row.definition)
        if definition is None:
            return row
        renewed = replace(definition, config_hash=self.identity.hash)
        return row._replace(pin=renewed.pin, definition=renewed.written())

    def _inherit(self) -> None:
        """Go on with what was decided of the same entry under an older identity."""
        for former in self._formers:
            self._decisions.inherit(self.source, former, self._renewed)

    def _decided(
        self, listed: "Mapping[str, ToolJudgement | _ListedTool]"
    ) -> Mapping[str, ToolDecisions]:
        """What is decided about these tools. A first list may be approved here."""
        self._inherit()
        decided = self._decisions.of(self.source)
        # Where the entry waits, what is known was listed by another.
        waits = self._policy == "strict" or not self.may_start()
        if not listed or waits or self._decisions.is_known(self.source):
            return decided
        clean = {name: one for name, one in listed.items() if not one.flags}
        pinned = {name: (one.pin, one.listed.written()) for name, one in clean.items()}
        self._decisions.trust(self.source, pinned)
        return self._decisions.of(self.source)


@dataclass(frozen=True, slots=True)
class _ListedTool:
    """A tool that was not judged yet."""

    listed: Definition
    pin: str
    flags: tuple[str, ...]

    @classmethod
    def of(cls, definition: Definition) -> "_ListedTool":
        return cls(definition, definition.pin, definition.flags)


def _has_new(listed: Mapping[str, ToolJudgement | _ListedTool]) -> bool:
    return any(isinstance(one, _ListedTool) for one in listed.values())


def _approved(one: ToolJudgement | _ListedTool) -> ToolJudgement:
    if isinstance(one, ToolJudgement) and one.status == "approved" and one.approved is one.listed:
        return one
    return ToolJudgement("approved", one.listed, one.pin, one.listed, one.flags)


def _judgement(
    one: ToolJudgement | _ListedTool, decided: ToolDecisions | None, before: Decision | None = None
) -> ToolJudgement:
    """By what is decided; `before` is what was approved of the server before it changed."""
    approved, rejected = decided or ToolDecisions()
    if approved and approved.pin == one.pin:
        return _approved(one)
    last = approved or before
    definition = _read_or_none(last.definition) if last else None
    if rejected and rejected.pin == one.pin:
        return ToolJudgement("rejected", one.listed, one.pin, definition, one.flags)
    status = "changed" if definition else "unreviewed"
    return ToolJudgement(status, one.listed, one.pin, definition, one.flags)


def _read_or_none(definition: str) -> Definition | None:
    try:
        return read_definition(definition)
    except (ValueError, RecursionError):
        return None


class InstallState(NamedTuple):
    """The key of this installation, the decisions, and what is wrong with them."""

    key: bytes
    decisions: DecisionStore
    problems: tuple[str, ...] = ()


def open_install_state(stores: Stores) -> InstallState:
    """Open both, made at first need. Raises `SourceError` and `StoreError`."""
    decisions = stores.decisions
    if decisions.trusts_first_sight:
        return InstallState(stores.install_key, decisions)
    problem = "was lost, damaged or altered, so that no new tool is trusted; run `toolcrib review`"
    return InstallState(stores.install_key, decisions, (f"what was decided about tools {problem}",))
