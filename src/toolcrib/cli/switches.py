"""The commands `toolcrib enable` and `toolcrib disable`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from toolcrib.cli.global_options import GlobalOptions, tell_gateway
from toolcrib.cli.screen import AsJson, console, number, print_json, safe
from toolcrib.errors import AmbiguousName, ConfigError
from toolcrib.names import Origin
from toolcrib.settings import own_servers_file
from toolcrib.sources.mcp import McpSource, OwnServersFile, ServerConfig, Switches
from toolcrib.text import list_nearest

Names = Annotated[
    list[str],
    typer.Argument(metavar="SERVER|TOOL", help="A server, or `server/tool`, also `server/del*`."),
]


def enable_command(
    context: typer.Context,
    names: Names,
    as_json: AsJson = False,
) -> None:
    """Switch MCP servers, or single tools of them, on again.

    Takes back what `toolcrib disable` did, and the key `disabled` of a server in another file. A
    tool that waits for review still waits: see `toolcrib review`.
    """
    _switch(context.obj, names, on=True, as_json=as_json)


def disable_command(
    context: typer.Context,
    names: Names,
    as_json: AsJson = False,
) -> None:
    """Switch MCP servers, or single tools of them, off.

    A disabled server is not started. No model finds, reads about or calls a disabled tool, in any
    mode. `toolcrib list` shows it as disabled, and `toolcrib enable` enables it again. This is
    written to `servers.json` in the configuration folder, also for a server of another file.
    """
    _switch(context.obj, names, on=False, as_json=as_json)


class SwitchTarget(NamedTuple):
    """A server, or those of its tools that a pattern fits; `tools` are the ones that it lists."""

    config: ServerConfig
    pattern: str
    tools: Sequence[str]

    @property
    def words(self) -> str:
        return f"{self.config.id}/{self.pattern}" if self.pattern else self.config.id


def _switch(options: GlobalOptions, names: Sequence[str], *, on: bool, as_json: bool) -> None:
    """Switch what the names mean, all of it or nothing. Raises `ConfigError`, `AmbiguousName`."""
    files = options.settings().mcp_config
    with options.mcp() as servers:
        targets = [_target(name, servers.sources) for name in names]
    own = own_servers_file()
    switched: list[dict[str, object]] = []
    for each in targets:
        new = _write(OwnServersFile(own), each, files, on=on)
        server, tools = each.config.id, list(each.tools) if each.pattern else []
        switched.append({"server": server, "pattern": each.pattern, "tools": tools, "changed": new})
        if not as_json:
            _show(each, on=on, new=new)
    tell_gateway(options)
    if as_json:
        print_json({"enabled": on, "file": str(own), "switched": switched})


def _write(own: OwnServersFile, target: SwitchTarget, files: Sequence[Path], *, on: bool) -> bool:
    """Whether that changes anything. Raises `ConfigError`."""

    def change(now: Switches) -> Switches:
        if not target.pattern:
            return replace(now, disabled=not on)
        return now.with_(target.pattern) if on else now.without(target.pattern)

    server = target.config.id
    return own.change_switches(server, own.switches_elsewhere(server, files), change)


def _target(name: str, sources: Sequence[McpSource]) -> SwitchTarget:
    """What a name means: a server, `server/tool`, or a tool by its name here or its own."""
    for source in sources:
        if name in (source.server, source.id):
            return SwitchTarget(source.config, "", _tools(source))
    server, slash, pattern = name.removeprefix("mcp:").partition("/")
    if slash and pattern:
        for source in sources:
            if server in (source.server, source.id):
                return _of_pattern(source, pattern)
    tools = list(_tools_named(name, sources))
    if len(tools) > 1:
        words = ", ".join(each.words for each in tools)
        raise AmbiguousName(f"{name!r} may mean a tool of several servers; say which: {words}")
    if not tools:
        raise ConfigError(_unknown(name, sources))
    return tools[0]


def _of_pattern(source: McpSource, pattern: str) -> SwitchTarget:
    """Of a server that was never listed, any name may be right."""
    tools = _tools(source)
    fit = [tool for tool in tools if fnmatchcase(tool, pattern)]
    switched_off = source.config.disabled_tools
    if tools and not fit and pattern not in switched_off:
        near = list_nearest(pattern, tools)
        raise ConfigError(f"server {source.server!r} has no tool {pattern!r}; nearest: {near}")
    return SwitchTarget(source.config, pattern, fit)


def _tools_named(name: str, sources: Sequence[McpSource]) -> Iterator[SwitchTarget]:
    for source in sources:
        for tool in _tools(source):
            if name in (tool, *Origin("mcp", source.id or "", tool).spellings().every):
                yield SwitchTarget(source.config, tool, [tool])


def _unknown(name: str, sources: Sequence[McpSource]) -> str:
    names = [source.server for source in sources]
    names += [f"{source.server}/{tool}" for source in sources for tool in _tools(source)]
    near = list_nearest(name, names)
    return f"no MCP server, and no tool of one, is called {name!r}; nearest: {near}"


def _tools(source: McpSource) -> list[str]:
    return [*source.judge().tools]


def _show(target: SwitchTarget, *, on: bool, new: bool) -> None:
    state = "enabled" if on else "disabled"
    already = "" if new else " already"
    tools = f" ({number(len(target.tools), 'tool')})" if len(target.tools) > 1 else ""
    rest = "" if on else ": no model finds or calls what it has" if not target.pattern else ""
    console().print(safe(f"{target.words} is {state}{already}{tools}{rest}."), soft_wrap=True)
    if on and target.pattern and target.config.disabled:
        todo = f"`toolcrib enable {target.config.id}`"
        console().print(safe(f"Its server is disabled; {todo} enables it."), soft_wrap=True)
