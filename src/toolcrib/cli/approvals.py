"""The command `toolcrib approvals`."""

import json
from typing import Annotated, Any, Literal, cast

import typer

from toolcrib.cli.opening import Opening
from toolcrib.cli.place import place_for
from toolcrib.cli.screen import AsJson, console, print_json, safe
from toolcrib.errors import ConfigError
from toolcrib.gateway import ask_operator


def approvals_command(
    context: typer.Context,
    action: Annotated[
        Literal["list", "allow", "deny"], typer.Argument(help="`list`, `allow` or `deny`.")
    ] = "list",
    id: Annotated[str, typer.Argument(help="The ticket of the call, or its beginning.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show the calls that wait for your approval, and decide.

    An approval is for one call: this caller, this tool as it is now, these arguments. It lasts a
    few minutes; the client makes the call again meanwhile.

        toolcrib approvals
        toolcrib approvals allow 3f2a
    """
    opening: Opening = context.obj
    place = place_for(opening)
    if action != "list":
        if not id:
            raise ConfigError(f"say which call to {action}; `toolcrib approvals` lists them")
        ask_operator(place, "decide", id=id, allowed=action == "allow")
    waiting = cast("list[dict[str, Any]]", ask_operator(place, "approvals"))
    if as_json:
        print_json(waiting)
    else:
        _show(waiting)


def _show(waiting: list[dict[str, Any]]) -> None:
    screen = console()
    for each in waiting:
        head = f"{each['id']}  {each['name']} ({each['permission_kind']}) for {each['caller']}"
        screen.print(safe(f"{head}, {each['expires_s']:.0f} s left"), style="bold", soft_wrap=True)
        screen.print(safe(f"  {json.dumps(each['arguments'], ensure_ascii=False)}"), soft_wrap=True)
    if not waiting:
        screen.print("No call waits for approval.")
