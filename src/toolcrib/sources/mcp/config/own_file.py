"""Our own `servers.json`: put one entry in or take one out, and leave the rest as it is."""

import json
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from toolcrib.errors import ConfigError
from toolcrib.model import JsonObject
from toolcrib.sources.declaration_file import read_text
from toolcrib.sources.mcp.config.fields import Fields
from toolcrib.sources.mcp.config.servers_file import OVERRIDES, TABLES, read_table
from toolcrib.sources.mcp.config.switches import Switches, read_switches
from toolcrib.system import file_locked, write_private_file


def put_server(path: Path, name: str, entry: JsonObject) -> None:
    """Write a server down, in a file that is made if need be.

    Raises `ConfigError` for an entry that means nothing and for a name that another entry has, and
    `DeclarationError` for a file that cannot be read; then nothing is written.
    """
    _check(path, name, entry)
    with _changing(path) as table:
        if table.get(name, entry) != entry:
            raise ConfigError(f"there is a server {name!r} already, in {path}; take another name")
        table[name] = entry


def read_server(path: Path, name: str) -> JsonObject | None:
    """The entry of a server as it is written; None if there is none. Raises as `put_server`."""
    entry = _table(path, _read(path)).get(name)
    return cast("JsonObject", entry) if isinstance(entry, dict) else None


def change_server(path: Path, name: str, before: JsonObject, entry: JsonObject) -> None:
    """Put another entry in the place of this one.

    Raises `ConfigError` for an entry that means nothing, and where the one that is there is no
    longer the one before; then nothing is written.
    """
    _check(path, name, entry)
    with _changing(path) as table:
        if table.get(name) != before:
            raise ConfigError(f"{path}: somebody else has just changed {name!r}; look again")
        table[name] = entry


def drop_server(path: Path, name: str) -> bool:
    """Take a server out; whether it was there. Raises `ConfigError`, `DeclarationError`."""
    if not path.exists():
        return False
    with _changing(path) as table:
        return table.pop(name, None) is not None


def change_switches(
    path: Path, name: str, elsewhere: Switches, change: Callable[[Switches], Switches]
) -> bool:
    """Change what is switched off of a server; whether that is new.

    It stands in the server's entry; of a server that stands in another file, which is not ours to
    write, under `overrides`: then `elsewhere` is what that file says. Raises `ConfigError`,
    `DeclarationError`.
    """
    with _changing_file(path) as top:
        table, overrides = _table(path, top), _object(path, top, OVERRIDES)
        place, base = (table, Switches()) if name in table else (overrides, elsewhere)
        entry, over = _object(path, place, name), _object(path, overrides, name)
        before = _read_switches(path, over, _read_switches(path, entry, base))
        after = change(before)
        kept = {**entry, **after.written(base)}
        del overrides[name]  # one place says it
        place[name] = {key: value for key, value in kept.items() if value is not None}
        if not overrides.get(name, True):
            del overrides[name]
        if not overrides:
            del top[OVERRIDES]
        return after != before


def _read_switches(path: Path, entry: dict[str, Any], base: Switches) -> Switches:
    return read_switches(Fields(str(path), entry), base)


def preview_change(
    path: Path, put: Mapping[str, JsonObject], drop: Collection[str] = ()
) -> tuple[str, str]:
    """The text of the file as it is, and as it would be. Raises as `put_server` does."""
    top = _read(path)
    before = _text(top) if path.exists() else ""
    if not put and not drop:
        return before, before
    table = _table(path, top)
    for name in drop:
        table.pop(name, None)
    table.update(put)
    return before, _text(top)


def _check(path: Path, name: str, entry: JsonObject) -> None:
    """Raises `ConfigError` for the first thing that is wrong with an entry."""
    problems = read_table(path, {name: entry}).problems
    if problems:
        raise ConfigError(problems[0])


def _text(top: dict[str, Any]) -> str:
    return json.dumps(top, indent=2, ensure_ascii=False) + "\n"


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        top: Any = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not JSON: {error}; correct it, or move it away") from error
    if not isinstance(top, dict):
        raise ConfigError(
            f"{path}: is not an object with `mcpServers`; correct it, or move it away"
        )
    return cast("dict[str, Any]", top)


def _table(path: Path, top: dict[str, Any]) -> dict[str, Any]:
    return _object(path, top, next((name for name in TABLES if name in top), TABLES[0]))


def _object(path: Path, top: dict[str, Any], name: str) -> dict[str, Any]:
    table = top.setdefault(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {name!r} is not an object; correct it, or move the file away")
    return cast("dict[str, Any]", table)


@contextmanager
def _changing(path: Path) -> Generator[dict[str, Any]]:
    """The entries as they are, alone with them; as they are left, they are written."""
    with _changing_file(path) as top:
        yield _table(path, top)


@contextmanager
def _changing_file(path: Path) -> Generator[dict[str, Any]]:
    """The same, of the whole file: in one step, through a link to where the file really is."""
    place = path.resolve()
    try:
        with file_locked(place):
            top = _read(path)
            before = _text(top)
            yield top
            if _text(top) != before:
                write_private_file(place, _text(top).encode())
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be written: {error.strerror}; change its permissions"
        ) from error
