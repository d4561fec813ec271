"""The plan of an import: the client's servers become ours, and the shim takes their place."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import ServerCommand, ServerConfig, read_table
from toolcrib.takeover.entries import URLS, Taken, read_entry
from toolcrib.takeover.plan import Opened, Plan, Target
from toolcrib.takeover.references import CannotBeTaken
from toolcrib.takeover.shim import NAME, Shim, is_shim, shim_entry, shim_profile

_LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\])[:/]")


def plan_import(target: Target, ours: Sequence[ServerConfig], own: Path, shim: Shim) -> Plan:
    """Take the servers of a client over. `ours` are all that are configured, `own` is our file.

    A server that we have already is not added again, one whose name another has gets a name of its
    own, and one that cannot be taken stays in the client. A shim that is there keeps its profile,
    unless another is asked for. Raises `ConfigError`.
    """
    opened = target.open()
    there = (shim_profile(entry) for entry in opened.entries.values() if is_shim(entry))
    shim = replace(shim, profile=shim.profile or next(there, ""))
    taken, left = _taken(opened, own)
    names = _names(target.client.name, taken, ours, own)
    old = {server.id for server in ours}
    added = {names[name]: each.entry for name, each in taken.items() if names[name] not in old}
    drop = {*taken, *(name for name, entry in opened.entries.items() if is_shim(entry))}
    put = _shim(opened, shim, {*opened.entries} - drop)
    return Plan(
        target,
        before=opened.text,
        after=opened.edited(drop, put),
        moved=names,
        left=left,
        added=added,
        known=tuple(sorted({*names.values()} & old)),
        dropped={name: each.dropped for name, each in taken.items() if each.dropped},
    )


def _shim(opened: Opened, shim: Shim, in_use: Collection[str]) -> dict[str, JsonObject]:
    """The shim by a name that is free; nothing where the gateway stands there by its address."""
    if any(_is_gateway(name, opened.entries[name]) for name in in_use):
        return {}
    place, client = free_name(NAME, in_use), opened.target.client
    if not client.lets_in(opened.document, place):
        lists = f"{'.'.join(client.allowed)} or {'.'.join(client.excluded)}"
        todo = f"{lists} keeps the gateway out; let {place!r} in there first"
        raise ConfigError(f"{opened.target.path}: {todo}")
    return {place: shim_entry(client, opened.layout.shape, shim)}


def _taken(opened: Opened, own: Path) -> tuple[dict[str, Taken], dict[str, str]]:
    """What can be taken, in our words, and why the rest cannot."""
    taken: dict[str, Taken] = {}
    left: dict[str, str] = {}
    target = opened.target
    for name, entry in opened.entries.items():
        if is_shim(entry):
            continue
        if not target.client.lets_in(opened.document, name):
            left[name] = "the client keeps it out by a list"
            continue
        if _is_gateway(name, entry):
            left[name] = "it is the gateway itself, by its address"
            continue
        try:
            each = read_entry(opened.layout.shape, entry, target.home, target.project)
            _check(own, name, each.entry)
        except CannotBeTaken as error:
            left[name] = str(error)
        else:
            taken[name] = each
    return taken, left


def _is_gateway(name: str, entry: Json) -> bool:
    """An address cannot be told apart from another, so the name has to say it too."""
    urls = [str(entry.get(key)) for key in URLS] if isinstance(entry, Mapping) else []
    return NAME in name and any(_LOOPBACK.match(url) for url in urls)


def _check(own: Path, name: str, entry: JsonObject) -> None:
    """Raises `CannotBeTaken` for what our own reader would complain of."""
    problems = read_table(own, {name: entry}).problems
    if problems:
        raise CannotBeTaken(problems[0].removeprefix(f"{own}: server {name!r}: "))


def _names(
    client: str, taken: Mapping[str, Taken], ours: Sequence[ServerConfig], own: Path
) -> dict[str, str]:
    """What each is called with us: as the equal one that is there, else by a name that is free."""
    in_use = {name for server in ours for name in (server.id, server.prefix) if name}
    names: dict[str, str] = {}
    for name, each in taken.items():
        (server,) = read_table(own, {name: each.entry}).servers
        same = [other.id for other in ours if _stands_for(other, server)]
        names[name] = name if name in same else (same or [_own_name(name, client, in_use)])[0]
        in_use.add(names[name])
    return names


def _stands_for(ours: ServerConfig, theirs: ServerConfig) -> bool:
    """Whether it is the same server, and has no tool that the client keeps out."""
    narrowed = theirs.enabled_tools, theirs.disabled_tools
    same = narrowed in ((None, ()), (ours.enabled_tools, ours.disabled_tools))
    transport = ours.transport
    if isinstance(transport, ServerCommand):
        transport = replace(transport, isolation=None)  # it is the same one, in a box
    return transport == theirs.transport and same


def _own_name(name: str, client: str, in_use: Collection[str]) -> str:
    return name if name not in in_use else free_name(f"{name}-{client}", in_use)


def free_name(name: str, in_use: Collection[str]) -> str:
    """The name, or the first with a number behind it that nobody has."""
    number, free = 1, name
    while free in in_use:
        number += 1
        free = f"{name}-{number}"
    return free
