"""`toolcrib import --undo`: the client's file as it was, byte for byte."""

from pathlib import Path

from toolcrib.cli.screen import console, print_json, safe
from toolcrib.cli.takeover import Choices, show_diff, tell
from toolcrib.errors import ConfigError
from toolcrib.settings import Settings, own_servers_file
from toolcrib.sources.mcp import preview_change
from toolcrib.takeover.backups import Backup, Backups
from toolcrib.takeover.carrying_out import Undoing, plan_undo, undo
from toolcrib.takeover.clients import client_named


def undo_all(
    client: str, project: Path | None, settings: Settings, choices: Choices, *, force: bool
) -> None:
    """Undo the last change of each file that is meant. Raises `ConfigError`."""
    backups = Backups(settings.state_folder)
    files = _files(client, project, backups)
    if not files:
        of = f"of {client_named(client).title}" if client else "of any client"
        raise ConfigError(f"no change to a file {of} is on record, so there is none to undo")
    # One undoing may hand servers on to another's backup, so each is read when it is its turn.
    last = (backups.of(name, file)[-1] for name, file in files)
    told = [_undone(each, backups, choices, force=force) for each in last]
    if choices.as_json:
        print_json(told)


def _files(client: str, project: Path | None, backups: Backups) -> list[tuple[str, Path]]:
    """Each file that has a backup, by its client; the one that was changed last is first."""
    wanted = client_named(client).name if client else ""
    folder = project.absolute() if project else None
    found = {(each.client, Path(each.file)): each.at for each in backups.all()}
    return [
        (name, file)
        for name, file in sorted(found, key=lambda each: found[each], reverse=True)
        if wanted in ("", name) and folder in (None, *file.parents)
    ]


def _undone(
    backup: Backup, backups: Backups, choices: Choices, *, force: bool
) -> dict[str, object]:
    own = own_servers_file()
    undoing = plan_undo(backup, own, backups, force=force)
    if not choices.as_json:
        _show(undoing, own)
    done, kept = False, None
    if choices.agreed("Put it back?"):
        kept, done = undo(undoing, own, backups, force=force), True
        if not choices.as_json:
            console().print("  Put back.")
            tell([("what was there until now", str(kept or ""))])
    return {
        "client": backup.client,
        "file": backup.file,
        "done": done,
        "changed": undoing.changed,
        "removed": undoing.drop,
        "stay": undoing.stay,
        "replaced": str(kept) if kept else None,
    }


def _show(undoing: Undoing, own: Path) -> None:
    client, backup = client_named(undoing.backup.client), undoing.backup
    path, current = Path(backup.file), undoing.current or ""
    console().print(safe(f"{client.title}: {path}"), style="bold", soft_wrap=True)
    if undoing.changed != "nothing":
        console().print(safe(f"  Changed there after the import: {undoing.changed}."))
    if undoing.changed == "the servers":
        show_diff(backup.after, current, path, client.syntax)
        console().print("  To put it back means:")
    show_diff(current, undoing.wanted or "", path, client.syntax)
    show_diff(*preview_change(own, {}, undoing.drop), own, "json")
    tell(("stays in Toolcrib", f"{name}: {why}") for name, why in undoing.stay.items())
