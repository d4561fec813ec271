"""What `import`, `export` and `setup` share: which client files, a look first, and the undo."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from toolcrib.cli.approval_questions import NewServerRights
from toolcrib.cli.consent import Consent
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import console, print_json, print_text, safe, warn
from toolcrib.client_config import (
    CLIENTS,
    Backup,
    Backups,
    ChangePlan,
    ClientFile,
    UndoPlan,
    apply_plan,
    client_files,
    client_named,
    diff,
    files_of,
    plan_import,
    plan_undo,
    shim_command,
    undo_change,
)
from toolcrib.errors import ConfigError
from toolcrib.settings import CONFIG_VARIABLE, Settings, own_servers_file
from toolcrib.sources.mcp import OwnServersFile, read_servers, read_table

WHAT_IS_SHARED = (
    "From now on each of these clients reaches all servers, not only its own; a profile of the"
    " gateway narrows that. The entries of the servers are copied to {own} with the secrets in them"
    " (0600: only you can read it); one that comes from the environment, ${{NAME}}, stays there."
)
STYLES = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """What became of a `ChangePlan`: its parts by name, whether it is `done`, and the backup."""

    client: str
    file: str
    changes: bool
    done: bool
    moved: Mapping[str, str]
    added: list[str]
    known: tuple[str, ...]
    left: Mapping[str, str]
    dropped: Mapping[str, tuple[str, ...]]
    backup: str | None


def client_files_named(client: str, project: Path | None, settings: Settings) -> list[ClientFile]:
    """The files of one client, or of all that have one. Raises `ConfigError`."""
    if client:
        files = files_of(client_named(client), project)
    else:
        files = [each for each in client_files(project) if each.path.is_file()]
    if not files:
        where = f"in {project}" if project else "on this machine"
        names = ", ".join(each.name for each in CLIENTS)
        raise ConfigError(f"no MCP client keeps a file {where}; name one with --client: {names}")
    for each in files:
        _refuse_named_twice(each.path, settings)
    return files


def _refuse_named_twice(path: Path, settings: Settings) -> None:
    """A file that we read servers from would hold the shim: a gateway behind itself."""
    if path.resolve() in {each.resolve() for each in settings.mcp_config}:
        todo = "take it out of `mcp_config` in the settings, or of --mcp-config, first"
        raise ConfigError(f"{path}: the gateway reads its own servers from this file; {todo}")


def take_over(
    files: list[ClientFile],
    options: GlobalOptions,
    settings: Settings,
    profile: str,
    consent: Consent,
    rights: NewServerRights,
) -> Iterator[ChangeReport]:
    """Import from one file after the other; each sees the servers that those before have brought.

    What these may do is settled before they are written down. Before the first yes it says what an
    import means for all. A file that cannot be used is warned of and left out; if it is the only
    one: `ConfigError`.
    """
    ours, backups = list(read_servers(settings.mcp_config).servers), Backups(settings.state_folder)
    own, variable = own_servers_file(), os.environ.get(CONFIG_VARIABLE)
    config = options.config or (Path(variable) if variable else None)
    notice = WHAT_IS_SHARED.format(own=own)
    for target in files:
        try:
            shim = shim_command(profile, config, options.mcp_config, shared=bool(target.project))
            plan = plan_import(target, ours, own, shim)
        except ConfigError as error:
            if len(files) == 1:
                raise
            warn(str(error))
            continue
        if plan.changes and notice and not consent.as_json:
            print_text(notice)
            notice = ""
        report = agree_and_apply(plan, backups, consent, rights)
        if report.done or consent.dry_run:
            ours += read_table(own, plan.added).servers
        yield report


def agree_and_apply(
    plan: ChangePlan, backups: Backups, consent: Consent, rights: NewServerRights | None = None
) -> ChangeReport:
    """Show a plan, apply it if the person agrees, and report what became of it."""
    if not consent.as_json:
        show_plan(plan, brief=consent.guided)
    question = "Change both files?" if plan.added else "Change this file?"
    if consent.guided:
        question = "Let the gateway take their place?" if plan.moved else "Let it use the gateway?"
    done = plan.changes and consent.agreed(question)
    if done and rights:
        plan = replace(plan, added=rights.settle(plan.added))
    backup = apply_plan(plan, own_servers_file(), backups) if done else None
    if not consent.as_json:
        _print_result(plan, backup, brief=consent.guided)
    return ChangeReport(
        client=plan.target.client.name,
        file=str(plan.target.path),
        changes=plan.changes,
        done=done,
        moved=plan.moved,
        added=list(plan.added),
        known=plan.known,
        left=plan.left,
        dropped=plan.dropped,
        backup=str(backup) if backup else None,
    )


def _print_result(plan: ChangePlan, backup: Path | None, *, brief: bool) -> None:
    client = plan.target.client
    if not plan.changes:
        console().print("  Nothing to change.")
    elif backup is None:
        console().print("  Nothing was changed.")
    else:
        reload = (f"to have {client.title} see it", client.reload)
        print_labelled([("done; the backup", str(backup)), *([] if brief else [reload])])


def show_plan(plan: ChangePlan, *, brief: bool) -> None:
    """What would change in both files, or in the client's, and what becomes of each server."""
    target = plan.target
    console().print(safe(f"{target.client.title}: {target.path}"), style="bold", soft_wrap=True)
    show_diff(diff(plan.before or "", plan.after, str(target.path), target.client.syntax))
    own = own_servers_file()
    if not brief:
        show_diff(diff(*OwnServersFile(own).preview(plan.added), str(own), "json"))
    renamed = [f"{old} as {new}" for old, new in plan.moved.items() if old != new]
    lines = [
        ("servers", ", ".join(plan.moved)),
        ("renamed", ", ".join(renamed)),
        ("known already", ", ".join(plan.known)),
        *(("stays", f"{name}: {reason}") for name, reason in plan.left.items()),
        *(("not taken over", f"{name}: {', '.join(keys)}") for name, keys in plan.dropped.items()),
    ]
    print_labelled(lines)


def show_diff(lines: Iterable[str]) -> None:
    """The lines of a diff in their colours."""
    for line in lines:
        console().print(safe(line), style=STYLES.get(line[:1], ""), soft_wrap=True)


def print_labelled(lines: Iterable[tuple[str, str]]) -> None:
    """Each text after its label; a label without a text is left out."""
    for label, text in lines:
        if text:
            console().print(safe(f"  {label}: {text}"), soft_wrap=True)


def undo_all(
    client: str, project: Path | None, settings: Settings, consent: Consent, *, force: bool
) -> bool:
    """Undo the last change of each file that is meant; whether any was. Raises `ConfigError`."""
    backups = Backups(settings.state_folder)
    files = _changed_files(client, project, backups)
    if not files:
        of = f"of {client_named(client).title}" if client else "of any client"
        raise ConfigError(f"no change to a file {of} is recorded, so there is nothing to undo")
    # One undoing may hand servers on to another's backup, so each is read when it is its turn.
    last = (backups.of(name, file)[-1] for name, file in files)
    reports = [_undo_one(each, backups, consent, force=force) for each in last]
    if consent.as_json:
        print_json(reports)
    return any(each["done"] for each in reports)


def _changed_files(client: str, project: Path | None, backups: Backups) -> list[tuple[str, Path]]:
    """Each file that has a backup, by its client; the one that was changed last is first."""
    only = client_named(client).name if client else ""
    folder = project.absolute() if project else None
    changed_at = {(each.client, Path(each.file)): each.at for each in backups.all()}
    return [
        (name, file)
        for name, file in sorted(changed_at, key=lambda each: changed_at[each], reverse=True)
        if only in ("", name) and folder in (None, *file.parents)
    ]


def _undo_one(
    backup: Backup, backups: Backups, consent: Consent, *, force: bool
) -> dict[str, object]:
    own = own_servers_file()
    plan = plan_undo(backup, own, backups, force=force)
    if not consent.as_json:
        _show_undo(plan, own)
    done, replaced = False, None
    if consent.agreed("Put it back?"):
        replaced, done = undo_change(plan, own, backups, force=force), True
        if not consent.as_json:
            console().print("  Put back.")
            print_labelled([("what was there until now", str(replaced or ""))])
    return {
        "client": backup.client,
        "file": backup.file,
        "done": done,
        "changed": plan.changed,
        "removed": plan.drop,
        "stay": plan.stay,
        "replaced": str(replaced) if replaced else None,
    }


def _show_undo(plan: UndoPlan, own: Path) -> None:
    client, backup = client_named(plan.backup.client), plan.backup
    path, current = backup.file, plan.current or ""
    console().print(safe(f"{client.title}: {path}"), style="bold", soft_wrap=True)
    if plan.changed != "nothing":
        console().print(safe(f"  Changed there after the import: {plan.changed}."))
    if plan.changed == "the servers":
        show_diff(diff(backup.after, current, path, client.syntax))
        console().print("  To put it back means:")
    show_diff(diff(current, plan.restored or "", path, client.syntax))
    show_diff(diff(*OwnServersFile(own).preview({}, plan.drop), str(own), "json"))
    print_labelled(("stays in Toolcrib", f"{name}: {why}") for name, why in plan.stay.items())
