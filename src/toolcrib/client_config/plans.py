"""What an import or an export would change, all of it, before anything is changed.

An import makes the client's servers ours and puts the shim in their place; an export is the way
back.
"""

import re
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolcrib.client_config.clients import Client, Layout
from toolcrib.client_config.document import edit_document, read_document, table_at
from toolcrib.client_config.entry_format import CannotConvert, EntryFormat
from toolcrib.client_config.entry_reader import URLS, ConvertedEntry, read_entry
from toolcrib.client_config.entry_writer import write_entry
from toolcrib.client_config.files import read_file
from toolcrib.client_config.shim import SHIM_NAME, ShimCommand, is_shim, shim_entry, shim_profile
from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import ServerCommand, ServerConfig, read_table


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A file of a client; `project` is the folder of the project that it belongs to."""

    client: Client
    path: Path
    home: Path
    project: Path | None = None

    @contextmanager
    def named(self) -> Generator[None]:
        """Errors within name the file, and say that it is as it was."""
        try:
            yield
        except ConfigError as error:
            if str(error).startswith(str(self.path)):
                raise
            raise ConfigError(f"{self.path}: {error}; nothing was changed") from error

    def open(self) -> "ClientDocument":
        """The file as it is now. Raises `ConfigError`."""
        with self.named():
            text = read_file(self.path)
            document = read_document(text or "", self.client.syntax)
            layout = self.client.layout(document)
            return ClientDocument(
                self, text, document, layout, table_at(document, layout.path) or {}
            )


@dataclass(frozen=True, slots=True)
class ClientDocument:
    """A client's file that was read: its text, None if there is none, and the entries in it."""

    target: ClientFile
    text: str | None
    document: JsonObject
    layout: Layout
    entries: JsonObject

    def edited(self, drop: Collection[str], put: Mapping[str, JsonObject]) -> str:
        """The text with other entries; as it is, if that is what it says already."""
        text = self.text or ""
        gone = {name for name in drop if name in self.entries and name not in put}
        if not gone and all(self.entries.get(name) == entry for name, entry in put.items()):
            return text
        with self.target.named():
            return edit_document(text, self.target.client.syntax, self.layout.path, gone, put)


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


# The plan of an import: the client's servers become ours, and the shim takes their place.

_LOOPBACK = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\])[:/]")


def plan_import(
    target: ClientFile, ours: Sequence[ServerConfig], own: Path, shim: ShimCommand
) -> ChangePlan:
    """Take the servers of a client over. `ours` are all that are configured, `own` is our file.

    A server that we have already is not added again, one whose name another has gets a name of its
    own, and one that cannot be taken stays in the client. A shim that is there keeps its profile,
    unless another is asked for. Raises `ConfigError`.
    """
    opened = target.open()
    there = (shim_profile(entry) for entry in opened.entries.values() if is_shim(entry))
    shim = replace(shim, profile=shim.profile or next(there, ""))
    taken, left = _convert_all(opened, own)
    names = _names(target.client.name, taken, ours, own)
    old = {server.id for server in ours}
    added = {names[name]: each.entry for name, each in taken.items() if names[name] not in old}
    drop = {*taken, *(name for name, entry in opened.entries.items() if is_shim(entry))}
    put = _shim_entry(opened, shim, {*opened.entries} - drop)
    return ChangePlan(
        target,
        before=opened.text,
        after=opened.edited(drop, put),
        moved=names,
        left=left,
        added=added,
        known=tuple(sorted({*names.values()} & old)),
        dropped={name: each.dropped for name, each in taken.items() if each.dropped},
    )


def _shim_entry(
    opened: ClientDocument, shim: ShimCommand, in_use: Collection[str]
) -> dict[str, JsonObject]:
    """The shim by a name that is free; nothing where the gateway stands there by its address."""
    if any(_is_gateway(name, opened.entries[name]) for name in in_use):
        return {}
    place, client = free_name(SHIM_NAME, in_use), opened.target.client
    if not client.lets_in(opened.document, place):
        lists = f"{'.'.join(client.allowed)} or {'.'.join(client.excluded)}"
        todo = f"{lists} keeps the gateway out; let {place!r} in there first"
        raise ConfigError(f"{opened.target.path}: {todo}")
    return {place: shim_entry(client, opened.layout.shape, shim)}


def _convert_all(
    opened: ClientDocument, own: Path
) -> tuple[dict[str, ConvertedEntry], dict[str, str]]:
    """What can be taken, in our words, and why the rest cannot."""
    taken: dict[str, ConvertedEntry] = {}
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
            _check_entry(own, name, each.entry)
        except CannotConvert as error:
            left[name] = str(error)
        else:
            taken[name] = each
    return taken, left


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
    client: str, taken: Mapping[str, ConvertedEntry], ours: Sequence[ServerConfig], own: Path
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


# The plan of an export: our servers stand in the client again, and the shim is gone.


def plan_export(target: ClientFile, ours: Sequence[ServerConfig]) -> ChangePlan:
    """Write our servers into a client's file in place of the shim; ours stay as they are.

    An entry that stands there already under the same name is left alone. Raises `ConfigError`.
    """
    opened = target.open()
    entries, left = exported_entries(opened.layout.shape, ours)
    for name in [
        name for name, entry in entries.items() if opened.entries.get(name, entry) != entry
    ]:
        if not is_shim(opened.entries[name]):
            left[name] = "the client has another server of this name"
            del entries[name]
    drop = {name for name, entry in opened.entries.items() if is_shim(entry)}
    after = opened.edited(drop, entries)
    return ChangePlan(target, opened.text, after, {name: name for name in entries}, left)


def exported_entries(
    shape: EntryFormat, ours: Sequence[ServerConfig]
) -> tuple[dict[str, JsonObject], dict[str, str]]:
    """Our servers in the client's words, and why some cannot be put in them."""
    entries: dict[str, JsonObject] = {}
    left: dict[str, str] = {}
    for server in ours:
        if _is_own_shim(server):
            continue
        try:
            entries[server.id] = write_entry(shape, server)
        except CannotConvert as error:
            left[server.id] = str(error)
    return entries, left


def exported_text(client: Client, entries: Mapping[str, JsonObject]) -> str:
    """The entries as a file of the client that holds nothing else."""
    return edit_document("", client.syntax, client.layouts[0].path, (), entries)


def _is_own_shim(server: ServerConfig) -> bool:
    """A shim among the servers would be a gateway behind itself."""
    transport = server.transport
    args: list[Json] = [*transport.args] if isinstance(transport, ServerCommand) else []
    return isinstance(transport, ServerCommand) and is_shim(
        {"command": transport.command, "args": args}
    )
