"""What `import`, `export` and `setup` share: which client files, a look first, and the undo."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolcrib.cli.consent import Consent
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import console, print_json, safe, warn
from toolcrib.client_config import (
    CLIENTS,
    Backup,
    Backups,
    ChangePlan,
    Client,
    ClientFile,
    ShimCommand,
    Syntax,
    UndoPlan,
    apply_plan,
    client_named,
    diff,
    installed_command,
    plan_import,
    plan_undo,
    this_machine,
    undo_change,
)
from toolcrib.client_config import SHIM_NAME as BARE
from toolcrib.errors import ConfigError
from toolcrib.settings import CONFIG_VARIABLE, Settings, own_servers_file
from toolcrib.sources.mcp import preview_change, read_servers, read_table

STYLES = {"+": "green", "-": "red", "@": "cyan"}


def client_files(project: Path | None = None) -> list[ClientFile]:
    """Every file in which a client may keep servers, whether it is there or not."""
    return [target for each in CLIENTS for target in _files_of(each, project)]


def client_files_named(client: str, project: Path | None, settings: Settings) -> list[ClientFile]:
    """The files that are meant: of one client, or of all that are found. Raises `ConfigError`."""
    if client:
        found = _files_of(client_named(client), project)
    else:
        found = [target for target in client_files(project) if target.path.is_file()]
    if not found:
        where = f"in {project}" if project else "on this machine"
        known = ", ".join(each.name for each in CLIENTS)
        raise ConfigError(f"no MCP client keeps a file {where}; name one with --client: {known}")
    for target in found:
        _refuse_named_twice(target.path, settings)
    return found


def _files_of(client: Client, project: Path | None) -> list[ClientFile]:
    machine = this_machine(os.environ)
    if project is None:
        return [ClientFile(client, path, machine.home) for path in client.paths(machine)]
    folder = project.absolute()
    paths = [folder / file for file in client.project]
    there = [path for path in paths if path.is_file()] or paths[:1]
    return [ClientFile(client, path, machine.home, folder) for path in there]


def _refuse_named_twice(path: Path, settings: Settings) -> None:
    """A file that we read servers from would hold the shim: a gateway behind itself."""
    if path.resolve() in {each.resolve() for each in settings.mcp_config}:
        todo = "take it out of `mcp_config` in the settings, or of --mcp-config, first"
        raise ConfigError(f"{path}: is read for servers as it stands; {todo}")


def agree_and_apply(plan: ChangePlan, backups: Backups, choices: Consent) -> dict[str, object]:
    """Show a plan, carry it out if that is agreed to, and say what became of it."""
    if not choices.as_json:
        show_plan(plan, brief=choices.guided)
    question = "Change both files?" if plan.added else "Change this file?"
    if choices.guided:
        question = "Let the gateway take their place?" if plan.moved else "Let it use the gateway?"
    done = plan.changes and choices.agreed(question)
    kept = apply_plan(plan, own_servers_file(), backups) if done else None
    if not choices.as_json:
        _tell_done(plan, kept, brief=choices.guided)
    return {
        "client": plan.target.client.name,
        "file": str(plan.target.path),
        "changes": plan.changes,
        "done": done,
        "moved": plan.moved,
        "added": list(plan.added),
        "known": plan.known,
        "left": plan.left,
        "dropped": plan.dropped,
        "backup": str(kept) if kept else None,
    }


def _tell_done(plan: ChangePlan, kept: Path | None, *, brief: bool) -> None:
    client = plan.target.client
    if not plan.changes:
        console().print("  Nothing to change.")
    elif kept is None:
        console().print("  Nothing was changed.")
    else:
        reload = (f"to have {client.title} see it", client.reload)
        tell([("done; the backup", str(kept)), *([] if brief else [reload])])


def show_plan(plan: ChangePlan, *, brief: bool) -> None:
    """What would change in both files, or in the client's, and what becomes of each server."""
    target = plan.target
    console().print(safe(f"{target.client.title}: {target.path}"), style="bold", soft_wrap=True)
    show_diff(plan.before or "", plan.after, target.path, target.client.syntax)
    own = own_servers_file()
    if not brief:
        show_diff(*preview_change(own, plan.added), own, "json")
    renamed = [f"{old} as {new}" for old, new in plan.moved.items() if old != new]
    said = [
        ("servers", ", ".join(plan.moved)),
        ("renamed", ", ".join(renamed)),
        ("known already", ", ".join(plan.known)),
        *(("stays", f"{name}: {reason}") for name, reason in plan.left.items()),
        *(("not taken over", f"{name}: {', '.join(keys)}") for name, keys in plan.dropped.items()),
    ]
    tell(said)


def show_diff(old: str, new: str, path: Path, syntax: Syntax) -> None:
    for line in diff(old, new, str(path), syntax):
        console().print(safe(line), style=STYLES.get(line[:1], ""), soft_wrap=True)


def tell(said: Iterable[tuple[str, str]]) -> None:
    """Lines with a label, those with something to say."""
    for label, words in said:
        if words:
            console().print(safe(f"  {label}: {words}"), soft_wrap=True)


# `toolcrib import --undo`: the client's file as it was, byte for byte.


def undo_all(
    client: str, project: Path | None, settings: Settings, choices: Consent, *, force: bool
) -> None:
    """Undo the last change of each file that is meant. Raises `ConfigError`."""
    backups = Backups(settings.state_folder)
    files = _changed_files(client, project, backups)
    if not files:
        of = f"of {client_named(client).title}" if client else "of any client"
        raise ConfigError(f"no change to a file {of} is on record, so there is none to undo")
    # One undoing may hand servers on to another's backup, so each is read when it is its turn.
    last = (backups.of(name, file)[-1] for name, file in files)
    told = [_undo_one(each, backups, choices, force=force) for each in last]
    if choices.as_json:
        print_json(told)


def _changed_files(client: str, project: Path | None, backups: Backups) -> list[tuple[str, Path]]:
    """Each file that has a backup, by its client; the one that was changed last is first."""
    wanted = client_named(client).name if client else ""
    folder = project.absolute() if project else None
    found = {(each.client, Path(each.file)): each.at for each in backups.all()}
    return [
        (name, file)
        for name, file in sorted(found, key=lambda each: found[each], reverse=True)
        if wanted in ("", name) and folder in (None, *file.parents)
    ]


def _undo_one(
    backup: Backup, backups: Backups, choices: Consent, *, force: bool
) -> dict[str, object]:
    own = own_servers_file()
    undoing = plan_undo(backup, own, backups, force=force)
    if not choices.as_json:
        _show_undo(undoing, own)
    done, kept = False, None
    if choices.agreed("Put it back?"):
        kept, done = undo_change(undoing, own, backups, force=force), True
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


def _show_undo(undoing: UndoPlan, own: Path) -> None:
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


def take_over(
    found: list[ClientFile],
    opening: GlobalOptions,
    settings: Settings,
    profile: str,
    choices: Consent,
) -> Iterator[dict[str, object]]:
    """One file after the other; each sees the servers that those before have brought.

    A file that cannot be used is warned of and left out; if it is the only one: `ConfigError`.
    """
    ours, backups = list(read_servers(settings.mcp_config).servers), Backups(settings.state_folder)
    own = own_servers_file()
    for target in found:
        try:
            plan = plan_import(target, ours, own, _shim_command(target, opening, profile))
        except ConfigError as error:
            if len(found) == 1:
                raise
            warn(str(error))
            continue
        told = agree_and_apply(plan, backups, choices)
        if told["done"] or choices.dry_run:
            ours += read_table(own, plan.added).servers
        yield told


def _shim_command(target: ClientFile, opening: GlobalOptions, profile: str) -> ShimCommand:
    """The shim that sees what this command sees.

    A project's file is shared with people who have Toolcrib elsewhere, so it names no path.
    """
    if target.project:
        return ShimCommand(BARE, profile=profile)
    config = opening.config or (
        Path(os.environ[CONFIG_VARIABLE]) if os.environ.get(CONFIG_VARIABLE) else None
    )
    options = ["--config", str(config.absolute())] if config else []
    for file in opening.mcp_config:
        options += ["--mcp-config", str(file.absolute())]
    return ShimCommand(installed_command(), tuple(options), profile)
