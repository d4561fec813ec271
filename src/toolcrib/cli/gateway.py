"""The command `toolcrib gateway`."""

from typing import Annotated, Any, Literal, cast

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.place import place_for
from toolcrib.cli.screen import AsJson, console, print_json, print_text, table, warn
from toolcrib.gateway import ask_operator

Action = Literal["status", "stop", "reload"]
CLIENTS = (
    *("client", "mode", "profile", "guest", "protocol"),
    *(">pid", ">requests", ">minutes"),
)


def gateway_command(
    context: typer.Context,
    action: Annotated[Action, typer.Argument(help="`status`, `stop` or `reload`.")] = "status",
    as_json: AsJson = False,
) -> None:
    """Look at the running gateway, stop it, or let it reload.

    To reload is to read the settings and the servers again. Which gateway it is follows from the
    settings, as everywhere: `--config` and the variables that it was started with.

        toolcrib gateway
        toolcrib gateway stop
    """
    opening: Opening = context.obj
    done = ask_operator(place_for(opening), action)
    if as_json:
        print_json(done)
    elif action == "status":
        _show(cast("dict[str, Any]", done))
    else:
        told = {"stop": "The gateway stops.", "reload": "Settings and servers were read again."}
        console().print(told[action])


def _show(status: dict[str, Any]) -> None:
    head = f"{status['address']}, process {status['pid']}, up {_minutes(status['uptime_s'])} min"
    print_text(f"{head}, version {status['version']}")
    up = [each["server"] for each in status["servers"] if each["state"] == "ready"]
    print_text(
        f"{status['tools']} capabilities; {len(status['servers'])} servers, up: "
        f"{', '.join(up) or 'none'}; calls that wait for approval: {status['waiting']}"
    )
    for broken in status["broken_files"]:
        warn(broken)
    rows = [
        (
            f"{each['name'] or '?'} {each['version']}",
            each["mode"],
            each["profile"],
            each["guest"],
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
