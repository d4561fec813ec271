"""All rules in one table. docs/guide/lint.md has the same one, for people."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from toolcrib.lint import descriptions, links, names, neighbours, parameters
from toolcrib.lint.shelf import Shelf, Told

Severity = Literal["error", "warning", "note"]


class Rule(NamedTuple):
    """What it is called, how bad it is, and who looks for it."""

    id: str
    severity: Severity
    look: Callable[[Shelf], Iterator[Told]]


RULES = (
    Rule("no-description", "error", descriptions.no_description),
    Rule("placeholder-description", "error", descriptions.placeholder_description),
    Rule("same-description", "error", descriptions.same_description),
    Rule("near-identical", "warning", neighbours.near_identical),
    Rule("outranked", "warning", neighbours.outranked),
    Rule("short-description", "warning", descriptions.short_description),
    Rule("long-description", "warning", descriptions.long_description),
    Rule("undocumented-parameter", "warning", parameters.undocumented_parameter),
    Rule("generic-name", "warning", names.generic_name),
    Rule("unknown-link", "warning", links.unknown_link),
    Rule("renamed", "note", names.renamed),
    Rule("name-apart", "note", descriptions.name_apart),
    Rule("abbreviated-name", "note", names.abbreviated_name),
)
