"""Whether the profiles of the gateway let anything through, and each thing that they say counts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from toolcrib.cli.checks.finding import Finding, Patient
from toolcrib.gateway import LOCAL_USER, Principal, profile_named
from toolcrib.model import Entry
from toolcrib.names.patterns import bars, grants, source_names
from toolcrib.settings import ProfileSettings
from toolcrib.text.nearest import nearest

AREA = "profiles"


def check_profiles(patient: Patient) -> Iterator[Finding]:
    """A warning for each profile that shows nothing, and each entry of one that fits nothing."""
    entries = list(patient.crib.entries().values())
    sources = _sources(patient, entries)
    for name, profile in patient.settings.gateway.profiles.items():
        yield from _idle(name, profile, entries, sources)
        yield _shown(patient, name)


def _shown(patient: Patient, name: str) -> Finding:
    principal = Principal(LOCAL_USER, profile_named(patient.settings.gateway, name))
    seen = len(patient.crib.seen_by(principal.caller))
    if seen:
        return Finding(AREA, "ok", f"{name}: shows {seen} of {len(patient.crib.entries())}")
    message = f"{name}: shows nothing, so its clients find no tool at all"
    remedy = f"widen gateway.profiles.{name}, or list its servers: toolcrib refresh"
    return Finding(AREA, "warning", message, remedy)


def _idle(
    name: str, profile: ProfileSettings, entries: Sequence[Entry], sources: Sequence[str]
) -> Iterator[Finding]:
    """What a profile says, and nothing in the pool fits."""
    kinds = {entry.capability.permission_kind for entry in entries}
    tools = sorted(entry.name for entry in entries)
    fits: list[tuple[str, Iterable[str], Callable[[str], bool], Sequence[str]]] = [
        ("servers", profile.servers or (), lambda said: _any_source(said, sources), sources),
        ("tools", profile.tools or (), lambda said: any(grants(said, e) for e in entries), tools),
        ("exclude", profile.exclude, lambda said: any(bars(said, e) for e in entries), tools),
        ("pins", profile.pins, lambda said: any(grants(said, e) for e in entries), tools),
        ("kinds", profile.kinds or (), lambda said: said in kinds, sorted(kinds)),
    ]
    for key, every, fitting, known in fits:
        for said in every:
            if not fitting(said):
                yield _fits_nothing(f"gateway.profiles.{name}.{key}", said, known)


def _fits_nothing(setting: str, said: str, known: Sequence[str]) -> Finding:
    near = ", ".join(nearest(said, known)) or "none"
    remedy = f"correct it, or list the server that it is about: toolcrib refresh. Nearest: {near}"
    return Finding(AREA, "warning", f"{setting}: nothing fits {said!r}", remedy)


def _sources(patient: Patient, entries: Iterable[Entry]) -> Sequence[str]:
    """The ids that a profile may name: of what is in the pool, and of servers never listed."""
    listed = {name for entry in entries for name in source_names(entry.capability)}
    return sorted(listed | {source.id or source.server for source in patient.servers.sources})


def _any_source(said: str, sources: Iterable[str]) -> bool:
    return any(fnmatchcase(each, said) for each in sources)
