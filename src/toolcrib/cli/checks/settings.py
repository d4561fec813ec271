"""Checks of what the settings say: sources, names and patterns, loads, profiles."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice

from toolcrib.cli.checks.diagnosis import CheckContext, Diagnosis
from toolcrib.gateway import LOCAL_USER, Principal, profile_named
from toolcrib.model import Entry
from toolcrib.names import bars, grants, source_names
from toolcrib.session import Prices, tools_of
from toolcrib.settings import ProfileSettings, Settings
from toolcrib.text import nearest_names, token_counter

CONFIG = "config"


def check_sources(patient: CheckContext) -> Iterator[Diagnosis]:
    """A problem for each thing that cannot be; what concerns one server is told with the server."""
    of_servers = {said for source in patient.servers.sources for said in source.problems}
    said = [problem for problem in patient.crib.problems if problem not in of_servers]
    for problem in dict.fromkeys(said):
        yield Diagnosis(CONFIG, "problem", problem, "correct what is named, or take it out")
    if not said:
        files = ", ".join(map(str, patient.settings.mcp_config)) or "none"
        yield Diagnosis(CONFIG, "ok", f"the settings can be used; files with MCP servers: {files}")
    for entry in patient.crib.entries().values():
        if entry.state == "changed":
            yield Diagnosis(CONFIG, "warning", f"{entry.name} waits for review", entry.remedy)


# Whether a name, or a pattern of the operator, could mean the tools of two sources.

NAMES = "names"
MOST_NAMED = 3


def check_names(patient: CheckContext) -> Iterator[Diagnosis]:
    """A warning for each source whose names overlap others', and each pattern that is cut short."""
    entries = list(patient.crib.entries().values())
    yield from _overlapping(entries)
    for setting, pattern in _giving(patient.settings):
        yield from _cut_short(setting, pattern, entries)


def _overlapping(entries: Sequence[Entry]) -> Iterator[Diagnosis]:
    by_stem: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        for stem in entry.overlaps:
            by_stem.setdefault((_owner(entry), stem), []).append(entry)
    for (source, stem), found in by_stem.items():
        message = (
            f"{source}: its tools {_some(found)} are named like those of another source, which"
            f" begin with {stem!r}; rules still mean each by its source"
        )
        yield Diagnosis(NAMES, "warning", message, f"give {source!r} a `tool_prefix` of its own")


def _cut_short(setting: str, pattern: str, entries: Sequence[Entry]) -> Iterator[Diagnosis]:
    """A pattern that gives, and fits names of tools that it does not give."""
    fitting = [entry for entry in entries if bars(pattern, entry)]
    left_out = [entry for entry in fitting if not grants(pattern, entry)]
    if not left_out:
        return
    meant = sorted({_owner(entry) for entry in fitting if grants(pattern, entry)})
    whose = f"only for {', '.join(meant)}" if meant else "for no source, because it names none"
    forms = ", ".join(f"`{each}/...`" for each in meant or sorted(set(map(_owner, left_out))))
    message = (
        f"{setting}: {pattern!r} counts {whose}, though {_some(left_out)} of"
        f" {_owner(left_out[0])} fits it too"
    )
    yield Diagnosis(NAMES, "warning", message, f"say whose tools you mean: {forms}")


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


def _owner(entry: Entry) -> str:
    return entry.capability.owner


def _some(entries: Sequence[Entry]) -> str:
    named = ", ".join(repr(entry.bare) for entry in islice(entries, MOST_NAMED))
    more = len(entries) - MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named


# Whether an MCP server asks for more of each request than was agreed.

LOADS = "loads"
LOADS_REMEDY = (
    "say what you want in its entry, with `always_load` or `defer`; `mcp.always_load = false` takes"
    " no server's word"
)


def check_loads(patient: CheckContext) -> Iterator[Diagnosis]:
    """A warning for each server that has tools always loaded, or wants more of them than count."""
    tools = tools_of(patient.crib.entries().values())
    loads = Prices(token_counter).asked_loads(tools)
    if not loads:
        yield Diagnosis(LOADS, "ok", "no MCP server asks that tools of it are never deferred")
    for asked in loads:
        level = "warning" if patient.settings.mcp.always_load else "ok"
        yield Diagnosis(LOADS, level, str(asked), LOADS_REMEDY if level == "warning" else "")


# Whether the profiles of the gateway let anything through, and each thing that they say counts.

PROFILES = "profiles"


def check_profiles(patient: CheckContext) -> Iterator[Diagnosis]:
    """A warning for each profile that shows nothing, and each entry of one that fits nothing."""
    entries = list(patient.crib.entries().values())
    sources = _source_ids(patient, entries)
    for name, profile in patient.settings.gateway.profiles.items():
        yield from _unused_patterns(name, profile, entries, sources)
        yield _visible(patient, name)


def _visible(patient: CheckContext, name: str) -> Diagnosis:
    principal = Principal(LOCAL_USER, profile_named(patient.settings.gateway, name))
    seen = len(patient.crib.seen_by(principal.caller))
    if seen:
        return Diagnosis(PROFILES, "ok", f"{name}: shows {seen} of {len(patient.crib.entries())}")
    message = f"{name}: shows nothing, so its clients find no tool at all"
    remedy = f"widen gateway.profiles.{name}, or list its servers: toolcrib refresh"
    return Diagnosis(PROFILES, "warning", message, remedy)


def _unused_patterns(
    name: str, profile: ProfileSettings, entries: Sequence[Entry], sources: Sequence[str]
) -> Iterator[Diagnosis]:
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


def _fits_nothing(setting: str, said: str, known: Sequence[str]) -> Diagnosis:
    near = ", ".join(nearest_names(said, known)) or "none"
    remedy = f"correct it, or list the server that it is about: toolcrib refresh. Nearest: {near}"
    return Diagnosis(PROFILES, "warning", f"{setting}: nothing fits {said!r}", remedy)


def _source_ids(patient: CheckContext, entries: Iterable[Entry]) -> Sequence[str]:
    """The ids that a profile may name: of what is in the pool, and of servers never listed."""
    listed = {name for entry in entries for name in source_names(entry.capability)}
    return sorted(listed | {source.id or source.server for source in patient.servers.sources})


def _any_source(said: str, sources: Iterable[str]) -> bool:
    return any(fnmatchcase(each, said) for each in sources)
