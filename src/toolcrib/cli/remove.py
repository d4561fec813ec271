"""The command `toolcrib remove`."""

from typing import Annotated

import typer

from toolcrib.cli.listing import tell_gateway
from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, console, print_json, safe
from toolcrib.errors import ConfigError
from toolcrib.settings import Settings, own_servers_file
from toolcrib.sources.mcp import drop_server, forget_server, read_servers
from toolcrib.text import nearest_names


def remove_command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="SERVER", help="The server, as it was called.")],
    as_json: AsJson = False,
) -> None:
    """Remove a server that was added, and all that is known of it.

    Its tools, decisions and login go with it. One that a file of your own names stays there.
    """
    opening: Opening = context.obj
    settings, file = opening.settings(), own_servers_file()
    known = read_servers([file]).servers if file.exists() else ()
    if not drop_server(file, name):
        raise ConfigError(_not_there(name, settings))
    tell_gateway(opening)  # it stops the server before what is known of it goes
    for server in known:
        if server.id == name:
            forget_server(server, settings.state_folder)
    if as_json:
        print_json({"server": name, "file": str(file)})
    else:
        console().print(safe(f"{name} is removed from {file}."), soft_wrap=True)


def _not_there(name: str, settings: Settings) -> str:
    """Why it cannot be removed: it stands elsewhere, or nowhere."""
    names: list[str] = []
    for file in settings.mcp_config:
        ids = [each.id for each in read_servers([file]).servers]
        if name in ids and file != own_servers_file():
            return f"server {name!r} stands in {file}, which is not ours: remove it there"
        names += ids if file == own_servers_file() else []
    near = ", ".join(nearest_names(name, names)) or "none"
    return f"no server {name!r} was added; nearest: {near}"
