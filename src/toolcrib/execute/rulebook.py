"""The operator's rules about calls, and what holds where none of them matches.

    rules.json (`toolcrib allow`, `deny`, `ask`)  →  the settings (`approval.rules`)  →  the default

Rules are tried in order, and the first that matches decides. A pattern may be readable as the name
of two tools (see `toolcrib.names`). It then allows the one that it spells out, and no other; and it
denies both. The default:

    a function that the program added   allowed, unless it is `dangerous` or says that it asks
    a tool of an MCP server             as `approval.servers` says: whoever named it has trusted it
    what came along                     a `read` is allowed, the rest is asked for
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from toolcrib.model import Capability, Entry, EntryGroups, PermissionKind, ToolInfo
from toolcrib.names import PatternIndex, bars, grants
from toolcrib.settings import ServerApproval

Verdict = Literal["allow", "ask", "deny"]
MOST_DECIDED = 64
_BY_STRICTNESS: tuple[Verdict, ...] = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class Rule:
    """A verdict on the tools whose name fits a pattern, of a kind, for callers of a profile.

    None is any kind, and any profile.
    """

    verdict: Verdict
    pattern: str = "*"
    kind: PermissionKind | None = None
    profile: str | None = None

    def means(self, entry: Entry) -> bool:
        """Whether the rule is about this tool and no other that its pattern could name."""
        return self._is_of(entry) and grants(self.pattern, entry)

    def touches(self, entry: Entry) -> bool:
        """Whether the rule may be about this tool. A rule that allows has to mean it."""
        fits = grants if self.verdict == "allow" else bars
        return self._is_of(entry) and fits(self.pattern, entry)

    def _is_of(self, entry: Entry) -> bool:
        return self.kind in (None, entry.permission_kind)


def decide(entry: Entry, rules: Sequence[Rule], default: Verdict) -> Verdict:
    """The verdict of the first rule that matches, else the default.

    The stricter of two: by the rules that mean the tool, and by all that may be about it.
    """
    by_meaning = _first((rule for rule in rules if rule.means(entry)), default)
    by_touching = _first((rule for rule in rules if rule.touches(entry)), default)
    return max((by_meaning, by_touching), key=_BY_STRICTNESS.index)


def default_verdict(what: Capability, servers: ServerApproval) -> Verdict:
    """What holds of a capability where no rule matches."""
    kind = what.permission_kind
    if not what.named_by:
        return "allow" if kind == "read" else "ask"
    if isinstance(what, ToolInfo) and what.approval == "ask":
        return "ask"
    strict = "destructive" if what.named_by == "program" else servers
    match strict:
        case "allow":
            return "allow"
        case "destructive":
            return "ask" if kind == "dangerous" else "allow"
        case "ask":
            return "allow" if kind == "read" else "ask"


class ProfileRules:
    """The rules that callers of one profile meet, in order. The same object while they are."""

    def __init__(self, written: Sequence[Rule], rules: Sequence[Rule]) -> None:
        self.written = written
        self.rules = rules
        self._denying = PatternIndex(each.pattern for each in rules if each.verdict == "deny")

    def denies(self, entry: Entry) -> bool:
        """Whether they deny a tool, whoever asks."""
        return entry.kind == "tool" and decide(entry, self.rules, "allow") == "deny"

    def denied(self, groups: EntryGroups) -> frozenset[str]:
        """The names that they deny; only groups that a rule may be about are looked at."""
        if not self._denying:
            return frozenset()
        touched = (each for each in groups if self._denying.about(each))
        names = (name for each in touched for name in groups[each])
        return frozenset(name for name in names if self.denies(groups.entries[name]))

    def still_denied(
        self, entries: Mapping[str, Entry], old: frozenset[str], changed: Collection[str]
    ) -> frozenset[str]:
        """The names of later entries that they deny; the old set if it still holds."""
        now = {name for name in changed if name in entries and self.denies(entries[name])}
        new = old.difference(changed) | now
        return old if new == old else new


class _Decided(NamedTuple):
    """A verdict that was found: on this very entry, by these very rules."""

    entry: Entry
    written: Sequence[Rule]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Rulebook:
    """All that decides about calls. `written` gives the rules of the commands as they are now.

    Verdicts are remembered as long as it gives the same tuple. `servers` is the default for tools
    of MCP servers; `profiles` has another for callers of some.
    """

    servers: ServerApproval
    rules: Sequence[Rule] = ()
    written: Callable[[], Sequence[Rule]] = tuple
    profiles: Mapping[str, ServerApproval] = field(default_factory=dict[str, ServerApproval])
    _of_profiles: dict[str, ProfileRules] = field(
        default_factory=dict[str, ProfileRules], init=False, repr=False, compare=False
    )
    _decided: dict[tuple[str, str], _Decided] = field(
        default_factory=dict[tuple[str, str], _Decided], init=False, repr=False, compare=False
    )

    def verdict(self, entry: Entry, profile: str = "") -> Verdict:
        """What holds of a tool for a caller of this profile. Raises `ConfigError`."""
        written = self.written()
        last = self._decided.get((entry.name, profile))
        if last and last.entry is entry and last.written is written:
            return last.verdict
        verdict = decide(entry, self.of_profile(profile).rules, self.default(entry, profile))
        if isinstance(written, tuple):
            if last or len(self._decided) >= MOST_DECIDED:
                self._decided.clear()  # the others are of a former pool too, and hold on to it
            self._decided[entry.name, profile] = _Decided(entry, written, verdict)
        return verdict

    def of_profile(self, profile: str = "") -> ProfileRules:
        """The rules for callers of this profile as they are now. Raises `ConfigError`."""
        written, known = self.written(), self._of_profiles.get(profile)
        if known is None or known.written is not written or not isinstance(written, tuple):
            every = (*written, *self.rules)
            own = tuple(rule for rule in every if rule.profile in (None, profile))
            known = self._of_profiles[profile] = ProfileRules(written, own)
        return known

    def default(self, entry: Entry, profile: str = "") -> Verdict:
        """The same without any rule."""
        return default_verdict(entry.capability, self.profiles.get(profile, self.servers))


def _first(rules: Iterable[Rule], default: Verdict) -> Verdict:
    for rule in rules:
        return rule.verdict
    return default
