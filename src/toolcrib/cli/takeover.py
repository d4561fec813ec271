"""What `toolcrib import` and `toolcrib export` have in common: which files, and a look first."""

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import typer

from toolcrib.cli.screen import console, safe
from toolcrib.errors import ConfigError
from toolcrib.settings import Settings, own_servers_file
from toolcrib.sources.mcp import preview_change
from toolcrib.takeover.backups import Backups
from toolcrib.takeover.carrying_out import carry_out
from toolcrib.takeover.clients import CLIENTS, Client, client_named
from toolcrib.takeover.document import Syntax
from toolcrib.takeover.machine import this_machine
from toolcrib.takeover.plan import Plan, Target
from toolcrib.takeover.shown import diff

STYLES = {"+": "green", "-": "red", "@": "cyan"}


def places(project: Path | None = None) -> list[Target]:
    """Every file in which a client may keep servers, whether it is there or not."""
    return [target for each in CLIENTS for target in _of(each, project)]


def targets(client: str, project: Path | None, settings: Settings) -> list[Target]:
    """The files that are meant: of one client, or of all that are found. Raises `ConfigError`."""
    if client:
        found = _of(client_named(client), project)
    else:
        found = [target for target in places(project) if target.path.is_file()]
    if not found:
        where = f"in {project}" if project else "on this machine"
        known = ", ".join(each.name for each in CLIENTS)
        raise ConfigError(f"no MCP client keeps a file {where}; name one with --client: {known}")
    for target in found:
        _refuse_named_twice(target.path, settings)
    return found


def _of(client: Client, project: Path | None) -> list[Target]:
    machine = this_machine(os.environ)
    if project is None:
        return [Target(client, path, machine.home) for path in client.paths(machine)]
    folder = project.absolute()
    paths = [folder / file for file in client.project]
    there = [path for path in paths if path.is_file()] or paths[:1]
    return [Target(client, path, machine.home, folder) for path in there]


def _refuse_named_twice(path: Path, settings: Settings) -> None:
    """A file that we read servers from would hold the shim: a gateway behind itself."""
    if path.resolve() in {each.resolve() for each in settings.mcp_config}:
        todo = "take it out of `mcp_config` in the settings, or of --mcp-config, first"
        raise ConfigError(f"{path}: is read for servers as it stands; {todo}")


@dataclass(frozen=True, slots=True)
class Choices:
    """How far to go without asking, and for whom to tell it.

    `guided`: Enter alone is a yes, and of our own file only the names of new servers are shown.
    """

    dry_run: bool
    yes: bool
    as_json: bool
    guided: bool = False

    def refuse_silence(self) -> None:
        """Raises `ConfigError` where nobody could be asked and nobody has agreed."""
        if not (self.dry_run or self.yes) and (self.as_json or not at_terminal()):
            raise ConfigError(
                "there is nobody to ask here; look with --dry-run first, then agree with --yes"
            )

    def agreed(self, question: str) -> bool:
        """Whether to do it: not if only a look was wanted, else by --yes or by asking."""
        return not self.dry_run and (self.yes or typer.confirm(question, default=self.guided))


def at_terminal() -> bool:
    return sys.stdin.isatty()


def step(plan: Plan, backups: Backups, choices: Choices) -> dict[str, object]:
    """Show a plan, carry it out if that is agreed to, and say what became of it."""
    if not choices.as_json:
        show(plan, brief=choices.guided)
    question = "Change both files?" if plan.added else "Change this file?"
    if choices.guided:
        question = "Let the gateway take their place?" if plan.moved else "Let it use the gateway?"
    done = plan.changes and choices.agreed(question)
    kept = carry_out(plan, own_servers_file(), backups) if done else None
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


def _tell_done(plan: Plan, kept: Path | None, *, brief: bool) -> None:
    client = plan.target.client
    if not plan.changes:
        console().print("  Nothing to change.")
    elif kept is None:
        console().print("  Nothing was changed.")
    else:
        reload = (f"to have {client.title} see it", client.reload)
        tell([("done; the backup", str(kept)), *([] if brief else [reload])])


def show(plan: Plan, *, brief: bool) -> None:
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
