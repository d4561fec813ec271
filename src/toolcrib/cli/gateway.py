"""The commands `toolcrib gateway`: status, stop, reload."""

from typing import Any, cast

import typer

from toolcrib.cli.global_options import daemon_place
from toolcrib.cli.groups import CommandGroup
from toolcrib.cli.screen import AsJson, console, print_json, print_text, table, warn
from toolcrib.gateway import ask_daemon

CLIENTS = (
    *("client", "mode", "profile", "principal", "protocol"),
    *(">pid", ">requests", ">minutes"),
)


def show_status(context: typer.Context, as_json: AsJson = False) -> None:
    """Show who is connected, which servers are up and what waits."""
    status = ask_daemon(daemon_place(context.obj), "status")
    print_json(status) if as_json else _show(cast("dict[str, Any]", status))


def stop_gateway(context: typer.Context, as_json: AsJson = False) -> None:
    """Stop the gateway.

    A client that launches `toolcrib connect` starts it again.
    """
    reply = ask_daemon(daemon_place(context.obj), "stop")
    print_json(reply) if as_json else console().print("The gateway stops.")


def reload_gateway(context: typer.Context, as_json: AsJson = False) -> None:
    """Read the settings and the servers again."""
    reply = ask_daemon(daemon_place(context.obj), "reload")
    print_json(reply) if as_json else console().print("Settings and servers were read again.")


GATEWAY = CommandGroup(
    """Look at the running gateway, stop it, or let it reload.

Each set of settings has a gateway of its own: give the `--config` and the variables that it was
started with. `toolcrib serve` starts one.

    toolcrib gateway status
    toolcrib gateway stop
""",
    {"status": show_status, "stop": stop_gateway, "reload": reload_gateway},
)


def _show(status: dict[str, Any]) -> None:
    head = f"{status['address']}, process {status['pid']}, up {_minutes(status['uptime_s'])} min"
    print_text(f"{head}, version {status['version']}")
    waiting = "the store is away" if status["waiting"] is None else status["waiting"]
    up = [each["server"] for each in status["servers"] if each["state"] == "ready"]
    print_text(
        f"{status['tools']} capabilities; {len(status['servers'])} servers, up: "
        f"{', '.join(up) or 'none'}; calls that wait for approval: {waiting}"
    )
    for each in status["tenants"]:
        use = f"{each['megabytes']} MB, {each['running']} running requests"
        print_text(f"tenant {each['tenant']}: {each['tools']} capabilities, {use}")
    for broken in status["broken_files"]:
        warn(broken)
    rows = [
        (
            f"{each['name'] or '?'} {each['version']}",
            each["mode"],
            each["profile"],
            each["principal"],
            each["protocol"],
            each["pid"],
            each["requests"],
            _minutes(each["since_s"]),
        )
        for each in status["clients"]
    ]
    console().print(table("", CLIENTS, rows) if rows else "No client is connected by a shim.")


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f}"
