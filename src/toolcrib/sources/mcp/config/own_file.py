"""Our own `servers.json`, which commands change: one entry at a time, the rest left as it is."""

import json
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from toolcrib.errors import ConfigError
from toolcrib.model import JsonObject
from toolcrib.sources.mcp.config.fields import Fields
from toolcrib.sources.mcp.config.servers_file import (
    OVERRIDES,
    TABLES,
    read_servers,
    read_table,
)
from toolcrib.sources.mcp.config.switches import Switches, read_switches
from toolcrib.sources.text_file import read_text_file
from toolcrib.system import file_locked, write_private_file


class OwnServersFile:
    """The file at `path`; it is made when it is first written.

    Everything here raises `ConfigError` for a file that means nothing or cannot be written, and
    `DeclarationError` for one that cannot be read. Then nothing is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, name: str, entry: JsonObject) -> None:
        """Add a server. Raises `ConfigError` for a bad entry, and if another entry has the name."""
        self._check(name, entry)
        with self._table_to_change() as table:
            if table.get(name, entry) != entry:
                raise ConfigError(
                    f"there is a server {name!r} already, in {self.path}; take another name"
                )
            table[name] = entry

    def read(self, name: str) -> JsonObject | None:
        """The entry of a server as it is written; None if there is none."""
        entry = self._table(self._read()).get(name)
        return cast("JsonObject", entry) if isinstance(entry, dict) else None

    def change(self, name: str, before: JsonObject, entry: JsonObject) -> None:
        """Replace the entry `before`. Raises `ConfigError` if that is no longer the entry."""
        self._check(name, entry)
        with self._table_to_change() as table:
            if table.get(name) != before:
                raise ConfigError(
                    f"{self.path}: somebody else has just changed {name!r}; look again"
                )
            table[name] = entry

    def drop(self, name: str) -> bool:
        """Remove a server; whether it was there."""
        if not self.path.exists():
            return False
        with self._table_to_change() as table:
            return table.pop(name, None) is not None

    def switches_elsewhere(self, name: str, files: Sequence[Path]) -> Switches:
        """What another one of these files switches off of a server."""
        for file in files:
            if file != self.path:
                for config in read_servers([file]).servers:
                    if config.id == name:
                        return Switches.of(config)
        return Switches()

    def change_switches(
        self, name: str, elsewhere: Switches, change: Callable[[Switches], Switches]
    ) -> bool:
        """Change what is switched off of a server; whether that made a difference.

        It is written into the server's entry. The entry may be in another file, which is not ours
        to write: then it is written under `overrides`, and `elsewhere` is what that file says.
        """
        with self._to_change() as top:
            table, overrides = self._table(top), self._object(top, OVERRIDES)
            place, base = (table, Switches()) if name in table else (overrides, elsewhere)
            entry, override = self._object(place, name), self._object(overrides, name)
            before = self._switches(override, self._switches(entry, base))
            after = change(before)
            merged = {**entry, **after.written(base)}
            del overrides[name]  # one place says it
            place[name] = {key: value for key, value in merged.items() if value is not None}
            if not overrides.get(name, True):
                del overrides[name]
            if not overrides:
                del top[OVERRIDES]
            return after != before

    def preview(self, put: Mapping[str, JsonObject], drop: Collection[str] = ()) -> tuple[str, str]:
        """The text of the file as it is, and as it would be; checked as by `put`."""
        for name, entry in put.items():
            self._check(name, entry)
        top = self._read()
        before = _text(top) if self.path.exists() else ""
        if not put and not drop:
            return before, before
        table = self._table(top)
        for name in drop:
            table.pop(name, None)
        table.update(put)
        return before, _text(top)

    def _check(self, name: str, entry: JsonObject) -> None:
        """Raises `ConfigError` for the first thing that is wrong with an entry."""
        problems = read_table(self.path, {name: entry}).problems
        if problems:
            raise ConfigError(problems[0])

    def _switches(self, entry: dict[str, Any], base: Switches) -> Switches:
        return read_switches(Fields(str(self.path), entry), base)

    def _read(self) -> dict[str, Any]:
        if not self.path.exists():
            return {}
        try:
            top: Any = json.loads(read_text_file(self.path))
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"{self.path}: not JSON: {error}; correct it, or move it away"
            ) from error
        if not isinstance(top, dict):
            raise ConfigError(
                f"{self.path}: is not an object with `mcpServers`; correct it, or move it away"
            )
        return cast("dict[str, Any]", top)

    def _table(self, top: dict[str, Any]) -> dict[str, Any]:
        return self._object(top, next((name for name in TABLES if name in top), TABLES[0]))

    def _object(self, top: dict[str, Any], name: str) -> dict[str, Any]:
        table = top.setdefault(name, {})
        if not isinstance(table, dict):
            raise ConfigError(
                f"{self.path}: {name!r} is not an object; correct it, or move the file away"
            )
        return cast("dict[str, Any]", table)

    @contextmanager
    def _table_to_change(self) -> Generator[dict[str, Any]]:
        """The entries, while nobody else changes them; they are written as they are left."""
        with self._to_change() as top:
            yield self._table(top)

    @contextmanager
    def _to_change(self) -> Generator[dict[str, Any]]:
        """The same, of the whole file. A link is followed: the file that it leads to is written."""
        place = self.path.resolve()
        try:
            with file_locked(place):
                top = self._read()
                before = _text(top)
                yield top
                if _text(top) != before:
                    write_private_file(place, _text(top).encode())
        except OSError as error:
            raise ConfigError(
                f"{self.path}: cannot be written: {error.strerror}; change its permissions"
            ) from error


def _text(top: dict[str, Any]) -> str:
    return json.dumps(top, indent=2, ensure_ascii=False) + "\n"
