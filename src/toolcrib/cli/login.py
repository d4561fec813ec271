"""The command `toolcrib login`."""

import logging
import webbrowser
from collections.abc import Callable
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions, ask_if_running
from toolcrib.cli.refresh import list_servers
from toolcrib.cli.screen import AsJson, console, print_json, safe, warn
from toolcrib.sources.mcp import McpSource, find_server


def login_command(
    context: typer.Context,
    server: Annotated[str, typer.Argument(help="The MCP server, by its name.")],
    forget: Annotated[
        bool, typer.Option("--forget", help="Remove the tokens of this server instead.")
    ] = False,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address to open.")
    ] = False,
    timeout_s: Annotated[
        float,
        typer.Option(
            "--timeout", metavar="SECONDS", min=0.001, help="Seconds to wait for the person."
        ),
    ] = 300.0,
    as_json: AsJson = False,
) -> None:
    """Log in to a remote MCP server (OAuth), then list its tools.

    Prints the address where you agree, opens it in the browser, and waits for the answer on a port
    of this machine. The tokens are kept in a file that only you can read, and are renewed without
    you. A running gateway has the tools at once. Exit code 1: you are logged in, but the tools
    could not be listed.

        toolcrib login notion
        toolcrib login notion --forget
    """
    options: GlobalOptions = context.obj
    with options.mcp() as servers:
        source = find_server(server, servers.sources)
        if forget:
            reply = ask_if_running(options, "forget_login", server=source.server)
            forgot = reply is True or source.forget_login()
            _show_forgotten(source, forgot=forgot, as_json=as_json)
            return
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what goes wrong, we say ourselves
        source.log_in(_opener(browser=not no_browser), timeout_s).result()
    (result,) = list_servers(options, [source.server])
    with options.mcp() as servers:
        names = [tool.name for tool in find_server(server, servers.sources).capabilities()]
    if as_json:
        print_json({"server": source.server, "tools": names, "error": result.error})
    elif not result.error:
        listed = ", ".join(names) or "none"
        console().print(safe(f"Logged in to {source.server}. Its tools: {listed}"))
    if result.error:
        warn(f"logged in to {source.server}, but it could not be listed: {result.error}")
        raise typer.Exit(1)


def _opener(*, browser: bool) -> Callable[[str], None]:
    def show(address: str) -> None:
        screen = console(to_stderr=True)
        screen.print("Open this address to log in, if it does not open by itself:")
        screen.print(safe(address), soft_wrap=True)
        if browser:
            webbrowser.open(address)

    return show


def _show_forgotten(source: McpSource, *, forgot: bool, as_json: bool) -> None:
    if as_json:
        print_json({"server": source.server, "forgotten": forgot})
        return
    words = "is forgotten" if forgot else "was not there"
    console().print(safe(f"The login to {source.server} {words}."))
