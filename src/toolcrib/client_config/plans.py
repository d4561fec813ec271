"""What an import or an export would change, all of it, before anything is changed.

An import makes the client's servers ours and puts the shim in their place; an export is the way
back.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolcrib.client_config.client_file import ClientDocument, ClientFile
from toolcrib.client_config.clients import Client
from toolcrib.client_config.document import edit_document
from toolcrib.client_config.entry_format import CannotConvert, EntryFormat
from toolcrib.client_config.entry_reader import URLS, ConvertedEntry, read_entry
from toolcrib.client_config.entry_writer import write_entry
from toolcrib.client_config.shim import SHIM_NAME, ShimCommand, is_shim, shim_entry, shim_profile
from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import ServerCommand, ServerConfig, read_table

_LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\])[:/]")


@dataclass(frozen=True, slots=True)
class ChangePlan:
    """The client's file as it is and as it would be, and what becomes of each server.

    `moved` are the servers that go over: their names where they were, and where they will be.
    `added` are new entries of ours, `known` are names of ours that were there already and are what
    was meant. `left` says why some stay, `dropped` which keys get lost, by name.
    """

    target: ClientFile
    before: str | None
    after: str
    moved: Mapping[str, str]
    left: Mapping[str, str]
    added: Mapping[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    known: tuple[str, ...] = ()
    dropped: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def changes(self) -> bool:
        return (self.before or "") != self.after or bool(self.added)


def plan_import(
    target: ClientFile, ours: Sequence[ServerConfig], own: Path, shim: ShimCommand
) -> ChangePlan:
    """Take the servers of a client over. `ours` are all that are configured, `own` is our file.

    A server that we have already is not added again, one whose name another has gets a name of its
    own, and one that cannot be taken stays in the client. A shim that is there keeps its profile,
    unless another is asked for. Raises `ConfigError`.
    """
    document = target.read()
    profiles = (shim_profile(document.entries[name]) for name in document.shims)
    shim = replace(shim, profile=shim.profile or next(profiles, ""))
    converted, left = _convert_all(document, own)
    names = _names(target.client.name, converted, ours, own)
    old = {server.id for server in ours}
    added = {names[name]: each.entry for name, each in converted.items() if names[name] not in old}
    drop = {*converted, *document.shims}
    put = _shim_entry(document, shim, {*document.entries} - drop)
    return ChangePlan(
        target,
        before=document.text,
        after=document.edited(drop, put),
        moved=names,
        left=left,
        added=added,
        known=tuple(sorted({*names.values()} & old)),
        dropped={name: each.dropped for name, each in converted.items() if each.dropped},
    )


def _shim_entry(
    document: ClientDocument, shim: ShimCommand, in_use: Collection[str]
) -> dict[str, JsonObject]:
    """The shim under a free name; nothing if the file has the gateway by its address."""
    if any(_is_gateway(name, document.entries[name]) for name in in_use):
        return {}
    place, client = _free_name(SHIM_NAME, in_use), document.target.client
    if not client.lets_in(document.content, place):
        lists = f"{'.'.join(client.allowed)} or {'.'.join(client.excluded)}"
        todo = f"{lists} keeps the gateway out; add {place!r} there first"
        raise ConfigError(f"{document.target.path}: {todo}")
    return {place: shim_entry(client, document.layout.format, shim)}


def _convert_all(
    document: ClientDocument, own: Path
) -> tuple[dict[str, ConvertedEntry], dict[str, str]]:
    """What can be taken, in our words, and why the rest cannot."""
    converted: dict[str, ConvertedEntry] = {}
    left: dict[str, str] = {}
    target = document.target
    for name, entry in document.entries.items():
        if name in document.shims:
            continue
        if not target.client.lets_in(document.content, name):
            left[name] = "the client keeps it out by a list"
            continue
        if _is_gateway(name, entry):
            left[name] = "it is the gateway itself, by its address"
            continue
        try:
            each = read_entry(document.layout.format, entry, target.home, target.project)
            _check_entry(own, name, each.entry)
        except CannotConvert as error:
            left[name] = str(error)
        else:
            converted[name] = each
    return converted, left


def _is_gateway(name: str, entry: Json) -> bool:
    """An address cannot be told apart from another, so the name has to say it too."""
    urls = [str(entry.get(key)) for key in URLS] if isinstance(entry, Mapping) else []
    return SHIM_NAME in name and any(_LOOPBACK.match(url) for url in urls)


def _check_entry(own: Path, name: str, entry: JsonObject) -> None:
    """Raises `CannotConvert` for what our own reader would complain of."""
    problems = read_table(own, {name: entry}).problems
    if problems:
        raise CannotConvert(problems[0].removeprefix(f"{own}: server {name!r}: "))


def _names(
    client: str, converted: Mapping[str, ConvertedEntry], ours: Sequence[ServerConfig], own: Path
) -> dict[str, str]:
    """What each is called with us: the name of the same server, or else a free name."""
    in_use = {name for server in ours for name in (server.id, server.prefix) if name}
    names: dict[str, str] = {}
    for name, each in converted.items():
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
    return name if name not in in_use else _free_name(f"{name}-{client}", in_use)


def _free_name(name: str, in_use: Collection[str]) -> str:
    """The name, or the first with a number behind it that nobody has."""
    number, free = 1, name
    while free in in_use:
        number += 1
        free = f"{name}-{number}"
    return free


def plan_export(target: ClientFile, ours: Sequence[ServerConfig]) -> ChangePlan:
    """Write our servers into a client's file in place of the shim; ours stay as they are.

    An entry that has the same name already is left alone. Raises `ConfigError`.
    """
    document = target.read()
    entries, left = _exported_entries(document.layout.format, ours)
    there = {name: entry for name, entry in document.entries.items() if name not in document.shims}
    for name in [name for name, entry in entries.items() if there.get(name, entry) != entry]:
        left[name] = "the client has another server of this name"
        del entries[name]
    after = document.edited(document.shims.keys(), entries)
    return ChangePlan(target, document.text, after, {name: name for name in entries}, left)


def _exported_entries(
    fmt: EntryFormat, ours: Sequence[ServerConfig]
) -> tuple[dict[str, JsonObject], dict[str, str]]:
    """Our servers in the client's words, and why some cannot be put in them."""
    entries: dict[str, JsonObject] = {}
    left: dict[str, str] = {}
    for server in ours:
        if _is_own_shim(server):
            continue
        try:
            entries[server.id] = write_entry(fmt, server)
        except CannotConvert as error:
            left[server.id] = str(error)
    return entries, left


def export_text(client: Client, ours: Sequence[ServerConfig]) -> tuple[str, dict[str, str]]:
    """A file of the client with our servers and nothing else, and why some are not in it."""
    layout = client.layouts[0]
    entries, left = _exported_entries(layout.format, ours)
    return edit_document("", client.syntax, layout.path, (), entries), left


def _is_own_shim(server: ServerConfig) -> bool:
    """A shim among the servers would be a gateway behind itself."""
    transport = server.transport
    if not isinstance(transport, ServerCommand):
        return False
    args: list[Json] = [*transport.args]
    return is_shim({"command": transport.command, "args": args})
