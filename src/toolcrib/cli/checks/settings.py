"""Checks of what the settings say.

- *config*: everything that the settings name can be used.
- *names*: no name and no pattern of the operator could mean the tools of two sources, and each
  pattern fits something.
- *loads*: no MCP server asks for more of each request than was agreed.
- *profiles*: each profile of the gateway shows something, and each pattern in it fits something.
- *gateway*: it can be served as the settings say, and who would reach it then.
"""

import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from toolcrib.cli.checks.diagnosis import CheckContext, Diagnosis
from toolcrib.cli.verdicts import unlisted_server
from toolcrib.crib import inventory_of
from toolcrib.errors import ConfigError
from toolcrib.execute import Rule, read_rules
from toolcrib.gateway import DEFAULT_PROFILE, Binding, local_principal
from toolcrib.model import Entry
from toolcrib.names import bars, grants, source_names
from toolcrib.session import Prices
from toolcrib.settings import Settings, rules_file
from toolcrib.text import list_nearest, token_counter
from toolcrib.wiring import rulebook_of

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
    """A warning for each source whose names overlap others', and what is wrong with patterns."""
    settings = context.settings
    profiles = sorted({DEFAULT_PROFILE, *settings.gateway.profiles})
    yield from _overlapping(list(context.crib.entries().values()))
    for setting, rule in _rules(settings):
        gives = rule.verdict == "allow"
        yield from _check_patterns(context, NAMES, setting, [rule.pattern], gives=gives)
        if rule.profile and rule.profile not in profiles:
            yield _fits_nothing(NAMES, f"{setting}: profile", rule.profile, profiles)
    never, internal = settings.session.never_defer, settings.search.internal
    yield from _check_patterns(context, NAMES, "session.never_defer", never, gives=True)
    yield from _check_patterns(context, NAMES, "search.internal", internal, gives=False)


def _rules(settings: Settings) -> Iterator[tuple[str, Rule]]:
    """Each rule about calls, with the place where it stands."""
    yield from (("approval.rules", rule) for rule in rulebook_of(settings).rules)
    with suppress(ConfigError):  # of a broken file `check_sources` tells
        yield from (("rules.json", rule) for rule in read_rules(rules_file()))


def _check_patterns(
    context: CheckContext, area: str, setting: str, patterns: Iterable[str], *, gives: bool
) -> Iterator[Diagnosis]:
    """What is wrong with each: it fits nothing, or gives less than it fits."""
    entries = list(context.crib.entries().values())
    for pattern in patterns:
        if gives and (doubtful := list(_cut_short(setting, pattern, entries))):
            yield from doubtful
        elif any((grants if gives else bars)(pattern, entry) for entry in entries):
            continue
        elif server := unlisted_server(pattern, context.crib):
            message = f"{setting}: {pattern!r} is for {server}, which is not listed yet"
            yield Diagnosis(area, "ok", message)
        else:
            names = {each.name for each in entries} | {f"{_owner(each)}/*" for each in entries}
            yield _fits_nothing(area, setting, pattern, sorted(names))


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
    """What is wrong with each profile: it shows nothing, or an entry of it fits nothing."""
    entries = list(context.crib.entries().values())
    sources, kinds = _source_ids(context, entries), sorted({e.permission_kind for e in entries})
    for name, profile in context.settings.gateway.profiles.items():
        key = f"gateway.profiles.{name}"
        for each in profile.servers or ():
            if not any(fnmatchcase(source, each) for source in sources):
                yield _fits_nothing(PROFILES, f"{key}.servers", each, sources)
        for each in set(profile.kinds or ()).difference(kinds):
            yield _fits_nothing(PROFILES, f"{key}.kinds", each, kinds)
        for words, patterns in (("tools", profile.tools or ()), ("pins", profile.pins)):
            yield from _check_patterns(context, PROFILES, f"{key}.{words}", patterns, gives=True)
        excluded = f"{key}.exclude"
        yield from _check_patterns(context, PROFILES, excluded, profile.exclude, gives=False)
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


def _fits_nothing(area: str, setting: str, pattern: str, names: Sequence[str]) -> Diagnosis:
    near = list_nearest(pattern, names)
    remedy = f"correct it, or take it out. Nearest: {near}"
    return Diagnosis(area, "problem", f"{setting}: nothing fits {pattern!r}", remedy)


def _source_ids(context: CheckContext, entries: Iterable[Entry]) -> Sequence[str]:
    """The ids that a profile may name: of what is in the pool, and of servers never listed."""
    listed = {name for entry in entries for name in source_names(entry)}
    return sorted(listed | {source.id or source.server for source in context.servers.sources})


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
