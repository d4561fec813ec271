"""The command `toolcrib refresh`."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.progress import Progress

from toolcrib.cli.opening import Opening
from toolcrib.cli.screen import AsJson, Note, console, print_json, print_notes, safe, table
from toolcrib.sources.mcp.refresh import refresh
from toolcrib.sources.mcp.servers import one_server
from toolcrib.sources.mcp.source import McpSource, Refreshed

NAME = "refresh"


def run(
    context: typer.Context,
    server: Annotated[str, typer.Argument(help="Only this server, by its name.")] = "",
    as_json: AsJson = False,
) -> None:
    """Start the configured MCP servers once and remember what they list.

    After that, search finds their tools while they sleep, and a call starts the one it needs. What
    was known of a server that does not start stays. Exit code 1 if one did not. Tools that are new
    since the first time, or others than they were, wait for `toolcrib review`.

        toolcrib refresh
        toolcrib refresh github
    """
    opening: Opening = context.obj
    with opening.mcp() as servers:
        sources = [one_server(server, servers.sources)] if server else servers.sources
        done = _refreshed(sources, quiet=as_json)
    if as_json:
        print_json([each._asdict() for each in done])
    else:
        rows = [
            (
                each.server,
                "failed" if each.error else "listed",
                each.tools,
                each.waiting or "",
                f"{each.seconds:.1f}",
            )
            for each in done
        ]
        console().print(table("", ["server", "state", ">tools", ">waiting", ">seconds"], rows))
        print_notes(Note(each.server, each.error) for each in done if each.error)
        if waiting := sum(each.waiting for each in done):
            console().print(f"Tools that wait for review: {waiting}; run `toolcrib review`.")
    if any(each.error for each in done):
        raise typer.Exit(1)


def _refreshed(sources: Sequence[McpSource], *, quiet: bool) -> list[Refreshed]:
    with Progress(console=console(), transient=True, disable=quiet) as bar:
        task = bar.add_task("starting", total=len(sources))

        def progress(done: Refreshed) -> None:
            bar.update(task, advance=1, description=safe(done.server).plain)

        return refresh(sources, progress)
