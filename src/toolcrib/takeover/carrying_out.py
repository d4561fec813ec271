"""Carries a plan out, ours first and the client's file last, and undoes it."""

from dataclasses import dataclass
from pathlib import Path

from toolcrib.errors import ConfigError
from toolcrib.sources.mcp.config import read_servers, read_table
from toolcrib.sources.mcp.own_servers import drop_server, put_server
from toolcrib.takeover.backups import Backup, Backups, now, still_needed
from toolcrib.takeover.client_file import read_file, remove_file, write_file
from toolcrib.takeover.plan import Plan


def carry_out(plan: Plan, own: Path, backups: Backups) -> Path:
    """Do what the plan says; where the backup is. Raises `ConfigError`."""
    client, file = plan.target.client.name, plan.target.path
    if read_file(file) != plan.before:
        raise ConfigError(f"{file}: somebody else has just written it; look again and repeat")
    backup = Backup(client, str(file), now(), plan.before, plan.after, {**plan.added}, plan.known)
    kept = backups.keep(backup)
    for name, entry in plan.added.items():
        put_server(own, name, entry)
    if plan.after != (plan.before or ""):
        write_file(file, plan.after, plan.before)
    return kept


@dataclass(frozen=True, slots=True)
class Undoing:
    """The last change of a client's file, and how it would be undone.

    `current` is the file as it is; `changed` whether it is neither what we left nor what it was.
    `drop` are the servers of ours that go, `stay` why others do not.
    """

    backup: Backup
    current: str | None
    drop: tuple[str, ...]
    stay: dict[str, str]

    @property
    def changed(self) -> bool:
        return self.current not in (self.backup.after, self.backup.before)


def plan_undo(backup: Backup, own: Path, backups: Backups) -> Undoing:
    """What undoing would do. Raises `ConfigError`."""
    needed = still_needed(backup, backups.all())
    now_there = (
        {server.id: server for server in read_servers([own]).servers} if own.exists() else {}
    )
    drop: list[str] = []
    stay: dict[str, str] = {}
    for name, entry in backup.added.items():
        if name in needed:
            stay[name] = "another client uses it too"
        elif [now_there.get(name)] != [*read_table(own, {name: entry}).servers]:
            stay[name] = "it is not as it was imported" if name in now_there else "it is gone"
        else:
            drop.append(name)
    return Undoing(backup, read_file(Path(backup.file)), tuple(drop), stay)


def undo(undoing: Undoing, own: Path, backups: Backups, *, force: bool = False) -> Path | None:
    """Put the client's file back, byte for byte, and take out what had become ours.

    With `force` also where somebody has changed it since; where that text is kept is returned.
    Raises `ConfigError`.
    """
    backup, kept = undoing.backup, None
    file = Path(backup.file)
    if undoing.changed and not force:
        raise ConfigError(
            f"{file}: was changed after the import; --force puts back what was before, and keeps"
            " what is there now"
        )
    if undoing.changed and undoing.current is not None:
        kept = backups.keep_text(backup.client, undoing.current)
    if backup.before == undoing.current:
        pass
    elif backup.before is not None:
        write_file(file, backup.before, undoing.current)
    elif undoing.current is not None:
        remove_file(file, undoing.current)
    for name in undoing.drop:
        drop_server(own, name)
    backups.forget(backup)
    return kept
