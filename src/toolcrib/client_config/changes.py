"""Applies a plan, our own file first and the client's file last, and undoes it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolcrib.client_config.backups import Backup, Backups, still_needed, timestamp
from toolcrib.client_config.clients import Layout, client_named
from toolcrib.client_config.document import edit_document, read_document, table_at
from toolcrib.client_config.files import check_unchanged, read_file, remove_file, write_file
from toolcrib.client_config.plans import ChangePlan
from toolcrib.errors import ConfigError
from toolcrib.model import JsonObject
from toolcrib.sources.mcp import OwnServersFile, read_servers, read_table

ChangedSince = Literal["nothing", "the rest", "the servers"]
"""What somebody else has changed in a client's file since we did."""


def apply_plan(plan: ChangePlan, own: Path, backups: Backups) -> Path:
    """Do what the plan says; returns the path of the backup. Raises `ConfigError`."""
    with backups.changing():
        return _apply(plan, own, backups)


def _apply(plan: ChangePlan, own: Path, backups: Backups) -> Path:
    client, file = plan.target.client.name, plan.target.path
    check_unchanged(file, plan.before)
    backup = Backup(
        client, str(file), timestamp(), plan.before, plan.after, {**plan.added}, plan.known
    )
    path = backups.keep(backup)
    for name, entry in plan.added.items():
        OwnServersFile(own).put(name, entry)
    if plan.after != (plan.before or ""):
        write_file(file, plan.after, plan.before)
    return path


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The last change of a client's file, and how it would be undone.

    `current` is the file as it is, `restored` as it would be; None: there would be no file. `drop`
    are the servers of ours that go, `stay` why others do not.
    """

    backup: Backup
    current: str | None
    restored: str | None
    changed: ChangedSince
    drop: tuple[str, ...]
    stay: dict[str, str]


def plan_undo(backup: Backup, own: Path, backups: Backups, *, force: bool = False) -> UndoPlan:
    """What undoing would do; with `force` the whole file, even if it was changed since.

    Raises `ConfigError`.
    """
    current = read_file(Path(backup.file))
    changed, restored = _text_before(backup, current)
    restored = backup.before if force else restored
    drop, stay = _servers_to_drop(backup, own, backups)
    return UndoPlan(backup, current, restored, changed, drop, stay)


def _text_before(backup: Backup, current: str | None) -> tuple[ChangedSince, str | None]:
    """What was changed since, and the text that undoes our part of it."""
    if current in (backup.after, backup.before):
        return "nothing", backup.before
    try:
        layout, current_entries = _entries(backup, current or "")
        if current is not None and current_entries == _entries(backup, backup.after)[1]:
            before = _entries(backup, backup.before or "")[1]
            drop = current_entries.keys() - before.keys()
            put = {name: each for name, each in before.items() if current_entries.get(name) != each}
            syntax = client_named(backup.client).syntax
            return "the rest", edit_document(current, syntax, layout.path, drop, put)
    except ConfigError:  # it cannot be read any more, so it is not for us to edit
        pass
    return "the servers", backup.before


def _entries(backup: Backup, text: str) -> tuple[Layout, Mapping[str, JsonObject]]:
    client = client_named(backup.client)
    document = read_document(text, client.syntax)
    layout = client.layout(document)
    table = table_at(document, layout.path) or {}
    return layout, {name: each for name, each in table.items() if isinstance(each, Mapping)}


def _servers_to_drop(
    backup: Backup, own: Path, backups: Backups
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The servers of ours that go, and why others stay; one that is gone already does neither."""
    needed = still_needed(backup, backups.all())
    servers = read_servers([own]).servers if own.exists() else ()
    now_there = {server.id: server for server in servers}
    stay: dict[str, str] = {}
    for name, entry in backup.added.items():
        if name in needed:
            stay[name] = "another client uses it too"
        elif name in now_there and [now_there[name]] != [*read_table(own, {name: entry}).servers]:
            stay[name] = "it was changed after the import"
    return tuple(name for name in backup.added if name in now_there and name not in stay), stay


def undo_change(plan: UndoPlan, own: Path, backups: Backups, *, force: bool = False) -> Path | None:
    """Put the client's file back, and take out what had become ours.

    If nobody has changed the file since, it is as before, byte for byte. Changes to parts other
    than the servers stay. If the servers were changed, only `force` puts the file back; then the
    path of the replaced text is returned. Raises `ConfigError`.
    """
    with backups.changing():
        if plan.backup not in backups.all():
            raise ConfigError(f"{plan.backup.file}: this was undone already; look again")
        return _undo(plan, own, backups, force=force)


def _undo(plan: UndoPlan, own: Path, backups: Backups, *, force: bool) -> Path | None:
    backup, current, replaced = plan.backup, plan.current, None
    file = Path(backup.file)
    if plan.changed == "the servers" and not force:
        raise ConfigError(
            f"{file}: its servers were changed after the import; --force puts back the whole file"
            " as it was before, and keeps what is there now"
        )
    if force and plan.changed != "nothing" and current is not None:
        replaced = backups.keep_text(backup.client, current)
    if plan.restored is not None and plan.restored != current:
        write_file(file, plan.restored, current)
    elif plan.restored is None and current is not None:
        remove_file(file, current)
    drop, _ = _servers_to_drop(backup, own, backups)  # another client may have come to need one
    for name in drop:
        OwnServersFile(own).drop(name)
    backups.forget(backup)
    return replaced
