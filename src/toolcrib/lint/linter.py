"""From a catalog to what its authors should put right: all rules in one table, and the run of them.

docs/guide/lint.md has the same table, for people.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from toolcrib.lint import definition_rules, description_rules, neighbour_rules
from toolcrib.lint.catalog import LintCatalog, LintRemark
from toolcrib.model import Entry

# All rules in one table. docs/guide/lint.md has the same one, for people.

LintSeverity = Literal["error", "warning", "note"]


class LintRule(NamedTuple):
    """What it is called, how bad it is, and who looks for it."""

    id: str
    severity: LintSeverity
    look: Callable[[LintCatalog], Iterator[LintRemark]]


RULES = (
    LintRule("no-description", "error", description_rules.no_description),
    LintRule("placeholder-description", "error", description_rules.placeholder_description),
    LintRule("same-description", "error", description_rules.same_description),
    LintRule("near-identical", "warning", neighbour_rules.near_identical),
    LintRule("outranked", "warning", neighbour_rules.outranked),
    LintRule("short-description", "warning", description_rules.short_description),
    LintRule("long-description", "warning", description_rules.long_description),
    LintRule("undocumented-parameter", "warning", definition_rules.undocumented_parameter),
    LintRule("generic-name", "warning", definition_rules.generic_name),
    LintRule("unknown-link", "warning", definition_rules.unknown_link),
    LintRule("renamed", "note", definition_rules.renamed),
    LintRule("name-apart", "note", description_rules.name_apart),
    LintRule("abbreviated-name", "note", definition_rules.abbreviated_name),
)


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing to put right. `neighbour` is the other capability that it is about, or ""."""

    source: str
    name: str
    severity: LintSeverity
    rule: str
    message: str
    neighbour: str


def lint(entries: Iterable[Entry]) -> Sequence[LintFinding]:
    """What is wrong with which entry, by source and name, the worst first.

    What no search returns (not searchable, disabled) is not looked at.
    """
    shelf = LintCatalog.of(entries)
    order = {rule.id: place for place, rule in enumerate(RULES)}
    found = [
        LintFinding(_source(shelf.entries[told.name]), told.name, rule.severity, rule.id, *told[1:])
        for rule in RULES
        for told in rule.look(shelf)
    ]
    return sorted(found, key=lambda each: (each.source, each.name, order[each.rule]))


def findings_by_source(findings: Iterable[LintFinding]) -> Mapping[str, Sequence[LintFinding]]:
    """The findings of each source, in their order."""
    grouped: dict[str, list[LintFinding]] = {}
    for finding in findings:
        grouped.setdefault(finding.source, []).append(finding)
    return grouped


def _source(entry: Entry) -> str:
    capability = entry.capability
    if capability.kind == "tool" or capability.source_id:
        return capability.owner_label
    return f"{capability.kind}s"
