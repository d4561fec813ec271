"""Checks of what the settings say.

- *config*: everything that the settings name can be used.
- *names*: no name and no pattern of the operator could mean the tools of two sources.
- *loads*: no MCP server asks for more of each request than was agreed.
- *profiles*: each profile of the gateway shows something, and each pattern in it fits something.
- *gateway*: it can be served as the settings say, and who would reach it then.
"""

import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from toolcrib.cli.checks.diagnosis import CheckContext, Diagnosis
from toolcrib.crib import inventory_of
from toolcrib.errors import ConfigError
from toolcrib.gateway import Binding, local_principal
from toolcrib.model import Entry
from toolcrib.names import bars, grants, source_names
from toolcrib.session import Prices
from toolcrib.settings import ProfileSettings, Settings
from toolcrib.text import list_nearest, token_counter

CONFIG = "config"
NAMES = "names"
LOADS = "loads"
PROFILES = "profiles"
GATEWAY = "gateway"
OTHERS = stat.S_IRWXG | stat.S_IRWXO
MOST_NAMED = 3
LOADS_REMEDY = (
    "decide in its entry by `always_load` or `defer`; `mcp.always_load = false` ignores what"
    " servers ask"
)


def check_sources(context: CheckContext) -> Iterator[Diagnosis]:
    """A problem for each thing that cannot be used; those of one server stand with the server."""
    of_servers = {problem for source in context.servers.sources for problem in source.problems}
    problems = [each for each in context.crib.problems if each not in of_servers]
    for problem in dict.fromkeys(problems):
        yield Diagnosis(CONFIG, "problem", problem, "correct what is named, or take it out")
    if not problems:
        files = ", ".join(map(str, context.settings.mcp_config)) or "none"
        yield Diagnosis(CONFIG, "ok", f"the settings can be used; files with MCP servers: {files}")
    for entry in context.crib.entries().values():
        if entry.state == "changed":
            yield Diagnosis(CONFIG, "warning", f"{entry.name} waits for review", entry.remedy)


def check_names(context: CheckContext) -> Iterator[Diagnosis]:
    """A warning for each source whose names overlap others', and each pattern that is cut short."""
    entries = list(context.crib.entries().values())
    yield from _overlapping(entries)
    for setting, pattern in _granting_patterns(context.settings):
        yield from _cut_short(setting, pattern, entries)


def _overlapping(entries: Sequence[Entry]) -> Iterator[Diagnosis]:
    by_stem: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        for stem in entry.overlaps:
            by_stem.setdefault((_owner(entry), stem), []).append(entry)
    for (source, stem), some in by_stem.items():
        message = (
            f"{source}: its tools {_some(some)} are named like those of another source, which"
            f" begin with {stem!r}; rules still mean each by its source"
        )
        yield Diagnosis(NAMES, "warning", message, f"give {source!r} a `tool_prefix` of its own")


def _cut_short(setting: str, pattern: str, entries: Sequence[Entry]) -> Iterator[Diagnosis]:
    """A pattern that grants, and fits the names of tools that it does not grant."""
    fitting = [entry for entry in entries if bars(pattern, entry)]
    left_out = [entry for entry in fitting if not grants(pattern, entry)]
    if not left_out:
        return
    owners = sorted({_owner(entry) for entry in fitting if grants(pattern, entry)})
    whose = f"only for {', '.join(owners)}" if owners else "for no source, because it names none"
    forms = ", ".join(f"`{each}/...`" for each in owners or sorted(set(map(_owner, left_out))))
    message = (
        f"{setting}: {pattern!r} counts {whose}, though {_some(left_out)} of"
        f" {_owner(left_out[0])} fits it too"
    )
    yield Diagnosis(NAMES, "warning", message, f"say whose tools you mean: {forms}")


def _granting_patterns(settings: Settings) -> Iterator[tuple[str, str]]:
    """Every pattern that grants something, with the setting that it stands in."""
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
    return entry.owner


def _some(entries: Sequence[Entry]) -> str:
    named = ", ".join(repr(entry.bare) for entry in islice(entries, MOST_NAMED))
    more = len(entries) - MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named


def check_loads(context: CheckContext) -> Iterator[Diagnosis]:
    """A warning for each server that has tools always loaded, or wants more of them than count."""
    loads = Prices(token_counter).asked_loads(context.crib.entries().values())
    if not loads:
        yield Diagnosis(LOADS, "ok", "no MCP server asks to load tools always")
    for load in loads:
        level = "warning" if context.settings.mcp.always_load else "ok"
        yield Diagnosis(LOADS, level, str(load), LOADS_REMEDY if level == "warning" else "")


def check_profiles(context: CheckContext) -> Iterator[Diagnosis]:
    """A warning for each profile that shows nothing, and each entry of one that fits nothing."""
    entries = list(context.crib.entries().values())
    sources = _source_ids(context, entries)
    for name, profile in context.settings.gateway.profiles.items():
        yield from _unused_patterns(name, profile, entries, sources)
        yield _visible(context, name)


def _visible(context: CheckContext, name: str) -> Diagnosis:
    principal = local_principal(context.settings.gateway, name)
    visible = len(inventory_of(context.crib).seen_by(principal.caller))
    if visible:
        return Diagnosis(
            PROFILES, "ok", f"{name}: shows {visible} of {len(context.crib.entries())}"
        )
    message = f"{name}: shows nothing, so its clients find no tool at all"
    remedy = f"widen gateway.profiles.{name}, or list its servers: toolcrib refresh"
    return Diagnosis(PROFILES, "warning", message, remedy)


def _unused_patterns(
    name: str, profile: ProfileSettings, entries: Sequence[Entry], sources: Sequence[str]
) -> Iterator[Diagnosis]:
    """Each pattern of a profile that fits nothing in the pool."""
    kinds = {entry.permission_kind for entry in entries}
    tools = sorted(entry.name for entry in entries)
    fits: list[tuple[str, Iterable[str], Callable[[str], bool], Sequence[str]]] = [
        ("servers", profile.servers or (), lambda text: _any_source(text, sources), sources),
        ("tools", profile.tools or (), lambda text: any(grants(text, e) for e in entries), tools),
        ("exclude", profile.exclude, lambda text: any(bars(text, e) for e in entries), tools),
        ("pins", profile.pins, lambda text: any(grants(text, e) for e in entries), tools),
        ("kinds", profile.kinds or (), lambda text: text in kinds, sorted(kinds)),
    ]
    for key, patterns, is_used, names in fits:
        for pattern in patterns:
            if not is_used(pattern):
                yield _fits_nothing(f"gateway.profiles.{name}.{key}", pattern, names)


def _fits_nothing(setting: str, pattern: str, names: Sequence[str]) -> Diagnosis:
    near = list_nearest(pattern, names)
    remedy = f"correct it, or list the server that it is about: toolcrib refresh. Nearest: {near}"
    return Diagnosis(PROFILES, "warning", f"{setting}: nothing fits {pattern!r}", remedy)


def _source_ids(context: CheckContext, entries: Iterable[Entry]) -> Sequence[str]:
    """The ids that a profile may name: of what is in the pool, and of servers never listed."""
    listed = {name for entry in entries for name in source_names(entry)}
    return sorted(listed | {source.id or source.server for source in context.servers.sources})


def _any_source(pattern: str, sources: Iterable[str]) -> bool:
    return any(fnmatchcase(each, pattern) for each in sources)


def check_gateway(context: CheckContext) -> Iterator[Diagnosis]:
    """Where it would be bound, and how. Nothing is bound for it."""
    settings = context.settings.gateway
    try:
        binding = Binding.of(settings)
        binding.certificate()
    except ConfigError as error:
        problem, _, remedy = str(error).rpartition("; ")
        yield Diagnosis(GATEWAY, "problem", problem, remedy)
        return
    where = binding.url(settings.port) if settings.port else f"{binding.address}, any free port"
    yield Diagnosis(GATEWAY, "ok", f"HTTP is served at {where} ({binding.protection})")
    if binding.tls:
        yield from _check_key(binding.tls[1])


def _check_key(key: Path) -> Iterator[Diagnosis]:
    if stat.S_IMODE(key.stat().st_mode) & OTHERS:
        message = f"{key}, the key of the gateway's certificate, can be read by others"
        yield Diagnosis(GATEWAY, "warning", message, f"chmod 600 {key}")
