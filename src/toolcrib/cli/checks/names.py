"""Whether a name, or a pattern of the operator, could mean the tools of two sources."""

from collections.abc import Iterator, Sequence
from itertools import islice

from toolcrib.cli.checks.finding import Finding, Patient
from toolcrib.model import Entry
from toolcrib.names import bars, grants
from toolcrib.settings import Settings

AREA = "names"
MOST_NAMED = 3


def check_names(patient: Patient) -> Iterator[Finding]:
    """A warning for each source whose names overlap others', and each pattern that is cut short."""
    entries = list(patient.crib.entries().values())
    yield from _overlapping(entries)
    for setting, pattern in _giving(patient.settings):
        yield from _cut_short(setting, pattern, entries)


def _overlapping(entries: Sequence[Entry]) -> Iterator[Finding]:
    by_stem: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        for stem in entry.overlaps:
            by_stem.setdefault((_source(entry), stem), []).append(entry)
    for (source, stem), found in by_stem.items():
        message = (
            f"{source}: its tools {_some(found)} are named like those of another source, which"
            f" begin with {stem!r}; rules still mean each by its source"
        )
        yield Finding(AREA, "warning", message, f"give {source!r} a `tool_prefix` of its own")


def _cut_short(setting: str, pattern: str, entries: Sequence[Entry]) -> Iterator[Finding]:
    """A pattern that gives, and fits names of tools that it does not give."""
    fitting = [entry for entry in entries if bars(pattern, entry)]
    left_out = [entry for entry in fitting if not grants(pattern, entry)]
    if not left_out:
        return
    meant = sorted({_source(entry) for entry in fitting if grants(pattern, entry)})
    whose = f"only for {', '.join(meant)}" if meant else "for no source, because it names none"
    forms = ", ".join(f"`{each}/...`" for each in meant or sorted(set(map(_source, left_out))))
    message = (
        f"{setting}: {pattern!r} counts {whose}, though {_some(left_out)} of"
        f" {_source(left_out[0])} fits it too"
    )
    yield Finding(AREA, "warning", message, f"say whose tools you mean: {forms}")


def _giving(settings: Settings) -> Iterator[tuple[str, str]]:
    """Every pattern that gives something, with the setting that it stands in."""
    for rule in settings.approval.rules:
        if rule.verdict == "allow":
            yield "approval.rules", rule.pattern
    for pattern in settings.session.never_defer:
        yield "session.never_defer", pattern
    for name, profile in settings.gateway.profiles.items():
        for pattern in profile.tools or ():
            yield f"gateway.profiles.{name}.tools", pattern
        for pattern in profile.pins:
            yield f"gateway.profiles.{name}.pins", pattern


def _source(entry: Entry) -> str:
    return entry.capability.owner


def _some(entries: Sequence[Entry]) -> str:
    named = ", ".join(repr(entry.bare) for entry in islice(entries, MOST_NAMED))
    more = len(entries) - MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named
