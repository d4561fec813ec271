"""The file of one client: where it is, what stands in it, and its text with other entries."""

import os
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from toolcrib.client_config.clients import CLIENTS, Client, Layout
from toolcrib.client_config.document import edit_document, read_document, table_at
from toolcrib.client_config.entry_format import CannotConvert
from toolcrib.client_config.entry_reader import read_entry
from toolcrib.client_config.files import read_file, this_machine
from toolcrib.client_config.shim import is_shim, shim_path
from toolcrib.errors import ConfigError
from toolcrib.model import JsonObject
from toolcrib.settings import own_servers_file
from toolcrib.sources.mcp import ServerConfig, read_table


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

    def read(self) -> "ClientDocument":
        """The file as it is now. Raises `ConfigError`."""
        with self.named():
            text = read_file(self.path)
            content = read_document(text or "", self.client.syntax)
            layout = self.client.layout(content)
            entries = table_at(content, layout.path) or {}
            return ClientDocument(self, text, content, layout, entries)


@dataclass(frozen=True, slots=True)
class ClientDocument:
    """A client's file that was read: its text, None if there is no file, and the entries in it."""

    target: ClientFile
    text: str | None
    content: JsonObject
    layout: Layout
    entries: JsonObject

    @property
    def shims(self) -> Mapping[str, str]:
        """The entries that start the shim or a gateway: the command of each by its name."""
        return {name: shim_path(entry) for name, entry in self.entries.items() if is_shim(entry)}

    def edited(self, drop: Collection[str], put: Mapping[str, JsonObject]) -> str:
        """The text with other entries; as it is, if that is what it says already."""
        text = self.text or ""
        gone = {name for name in drop if name in self.entries and name not in put}
        if not gone and all(self.entries.get(name) == entry for name, entry in put.items()):
            return text
        with self.target.named():
            return edit_document(text, self.target.client.syntax, self.layout.path, gone, put)

    def same_servers(self, name: str, ours: Sequence[ServerConfig]) -> list[str]:
        """The servers of ours that are the same program, or address, as the entry of this name."""
        with suppress(CannotConvert):
            converted = read_entry(self.layout.format, self.entries[name], self.target.home)
            servers = read_table(own_servers_file(), {name: converted.entry}).servers
            transports = [each.transport for each in servers]
            return [each.id for each in ours if each.transport in transports]
        return []


def client_files(project: Path | None = None) -> list[ClientFile]:
    """Every file in which a client may keep servers, whether it is there or not."""
    return [file for client in CLIENTS for file in files_of(client, project)]


def files_of(client: Client, project: Path | None = None) -> list[ClientFile]:
    """The files of one client, its own or those of a project: those that are there, or one."""
    machine = this_machine(os.environ)
    if project is None:
        return [ClientFile(client, path, machine.home) for path in client.paths(machine)]
    folder = project.absolute()
    paths = [folder / file for file in client.project]
    there = [path for path in paths if path.is_file()] or paths[:1]
    return [ClientFile(client, path, machine.home, folder) for path in there]
