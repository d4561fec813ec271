"""What an import or an export would change, all of it, before anything is changed."""

from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.errors import ConfigError
from toolcrib.model import JsonObject
from toolcrib.takeover.client_file import read_file
from toolcrib.takeover.clients import Client, Layout
from toolcrib.takeover.document import edited, read, table


@dataclass(frozen=True, slots=True)
class Target:
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

    def open(self) -> "Opened":
        """The file as it is now. Raises `ConfigError`."""
        with self.named():
            text = read_file(self.path)
            document = read(text or "", self.client.syntax)
            layout = self.client.layout(document)
            return Opened(self, text, document, layout, table(document, layout.path) or {})


@dataclass(frozen=True, slots=True)
class Opened:
    """A client's file that was read: its text, None if there is none, and the entries in it."""

    target: Target
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
            return edited(text, self.target.client.syntax, self.layout.path, gone, put)


@dataclass(frozen=True, slots=True)
class Plan:
    """The client's file as it is and as it would be, and what becomes of each server.

    `moved` are the servers that go over: their names where they were, and where they will be.
    `added` are new entries of ours, `known` are names of ours that were there already and are what
    was meant. `left` says why some stay, `dropped` which keys get lost, by name.
    """

    target: Target
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
