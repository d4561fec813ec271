"""All lint rules in one table, and `lint`, which runs them over a catalog.

docs/guide/lint.md has the same table, for people.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from toolcrib.lint import definition_rules, description_rules, neighbour_rules
from toolcrib.lint.catalog import LintCatalog, LintRemark
from toolcrib.model import Entry

LintSeverity = Literal["error", "warning", "note"]


class LintRule(NamedTuple):
    """Its id, how bad it is, and the check, which yields a remark for each offender."""

    id: str
    severity: LintSeverity
    check: Callable[[LintCatalog], Iterator[LintRemark]]


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
    catalog = LintCatalog.of(entries)
    order = {rule.id: place for place, rule in enumerate(RULES)}
    findings = [_finding(rule, remark, catalog) for rule in RULES for remark in rule.check(catalog)]
    return sorted(findings, key=lambda each: (each.source, each.name, order[each.rule]))


def findings_by_source(findings: Iterable[LintFinding]) -> Mapping[str, Sequence[LintFinding]]:
    """The findings of each source, in their order."""
    grouped: dict[str, list[LintFinding]] = {}
    for finding in findings:
        grouped.setdefault(finding.source, []).append(finding)
    return grouped


def _finding(rule: LintRule, remark: LintRemark, catalog: LintCatalog) -> LintFinding:
    source = _source(catalog.entries[remark.name])
    return LintFinding(source, remark.name, rule.severity, rule.id, *remark[1:])


def _source(entry: Entry) -> str:
    capability = entry.capability
    if capability.kind == "tool" or capability.source_id:
        return capability.owner_label
    return f"{capability.kind}s"
