"""From a catalog to what its authors should put right."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolcrib.lint.rules import RULES, Severity
from toolcrib.lint.shelf import Shelf
from toolcrib.model import Entry


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to put right. `neighbour` is the other capability that it is about, or ""."""

    source: str
    name: str
    severity: Severity
    rule: str
    message: str
    neighbour: str


def lint(entries: Iterable[Entry]) -> Sequence[Finding]:
    """What is wrong with which entry, by source and name, the worst first.

    What no search returns (not searchable, disabled) is not looked at.
    """
    shelf = Shelf.of(entries)
    order = {rule.id: place for place, rule in enumerate(RULES)}
    found = [
        Finding(_source(shelf.entries[told.name]), told.name, rule.severity, rule.id, *told[1:])
        for rule in RULES
        for told in rule.look(shelf)
    ]
    return sorted(found, key=lambda each: (each.source, each.name, order[each.rule]))


def by_source(findings: Iterable[Finding]) -> Mapping[str, Sequence[Finding]]:
    """The findings of each source, in their order."""
    grouped: dict[str, list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(finding.source, []).append(finding)
    return grouped


def _source(entry: Entry) -> str:
    capability = entry.capability
    if capability.kind == "tool" or capability.source_id:
        return capability.owner_label
    return f"{capability.kind}s"
