"""`toolcrib import --undo`: the client's file as it was, byte for byte."""

from pathlib import Path

from toolcrib.cli.screen import console, print_json, safe
from toolcrib.cli.takeover import Choices, show_diff, tell
from toolcrib.config import Settings, own_servers_file
from toolcrib.errors import ConfigError
from toolcrib.sources.mcp.own_servers import preview
from toolcrib.takeover.backups import Backup, Backups
from toolcrib.takeover.carrying_out import Undoing, plan_undo, undo
from toolcrib.takeover.clients import CLIENTS, client_named


def undo_all(
    client: str, project: Path | None, settings: Settings, choices: Choices, *, force: bool
) -> None:
    """Undo the last change of each file that is meant. Raises `ConfigError`."""
    backups = Backups(settings.state_folder)
    last = _last(client, project, backups)
    if not last:
        of = f"of {client_named(client).title}" if client else "of any client"
        raise ConfigError(f"no change to a file {of} is on record, so there is none to undo")
    told = [_undone(each, backups, choices, force=force) for each in last]
    if choices.as_json:
        print_json(told)


def _last(client: str, project: Path | None, backups: Backups) -> list[Backup]:
    """The newest backup of each file."""
    names = [client_named(client).name] if client else [each.name for each in CLIENTS]
    newest = {each.file: each for name in names for each in backups.of(name)}
    folder = project.absolute() if project else None
    return [each for each in newest.values() if folder in (None, *Path(each.file).parents)]


def _undone(
    backup: Backup, backups: Backups, choices: Choices, *, force: bool
) -> dict[str, object]:
    own = own_servers_file()
    undoing = plan_undo(backup, own, backups)
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
    if undoing.changed:
        console().print("  It was changed after the import; since then:")
        show_diff(backup.after, current, path, client.syntax)
        console().print("  To put it back means:")
    show_diff(current, backup.before or "", path, client.syntax)
    show_diff(*preview(own, {}, undoing.drop), own, "json")
    tell(("stays with us", f"{name}: {why}") for name, why in undoing.stay.items())
