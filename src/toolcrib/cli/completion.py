"""What the shell offers on Tab: names, read from what is stored.

Completion starts nothing, runs nobody's code and writes nothing. If anything goes wrong, it offers
no name: a shell has no place for an error.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeAlias,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from typer.models import ArgumentInfo, OptionInfo

from toolcrib import client_config, gateway
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.sources import apps, mcp

if TYPE_CHECKING:
    from toolcrib.settings import Settings

PACKAGED = Path(__file__).parent.parent / "tools" / "tools.yaml"
_KEY = re.compile(r"^(\w+):", re.MULTILINE)

Names: TypeAlias = "Callable[[Settings], Iterable[str]]"


def completed(run: Callable[..., None]) -> Callable[..., None]:
    """The same command, whose parameters complete by what they take: `SERVER`, `--client`."""
    for name, hint in get_type_hints(run, include_extras=True).items():
        if get_origin(hint) is Annotated:
            info = cast("ArgumentInfo | OptionInfo", get_args(hint)[1])
            names = _COMPLETED.get(_taken(name, info))
            if names and info.autocompletion is None:
                info.autocompletion = _completer(names)
    return run


def _taken(name: str, info: ArgumentInfo | OptionInfo) -> str:
    """What a parameter takes: the metavar, unless it is as little as `NAME`."""
    metavar = info.metavar or name.upper()
    return metavar if metavar != "NAME" else f"--{name}"


def _completer(names: Names) -> Callable[[typer.Context, str], list[str]]:
    def complete(context: typer.Context, incomplete: str) -> list[str]:
        try:
            every = names(_opening(context).settings())
            return sorted({name for name in every if name.startswith(incomplete)})
        except Exception:  # noqa: BLE001 - see above
            return []

    return complete


def _opening(context: typer.Context) -> GlobalOptions:
    """What stands before the command, as far as it is typed."""
    given = cast("Mapping[str, Any]", context.find_root().params)
    return GlobalOptions(given.get("config"), tuple(given.get("mcp_config") or ()))


def _servers(settings: "Settings") -> Iterable[str]:
    return [server.id for server in mcp.read_servers(settings.mcp_config).servers]


def _tools(settings: "Settings") -> Iterable[str]:
    from toolcrib.names import Origin

    servers = mcp.read_servers(settings.mcp_config).servers
    stems = {server.id: server.prefix or server.id for server in servers}
    if settings.builtin_tools:
        yield from _KEY.findall(PACKAGED.read_text(encoding="utf-8"))
    for server, tool in mcp.McpServers.cached_tools(settings.state_folder):
        if server in stems:
            yield Origin("mcp", stems[server], tool).plain_name()


def _servers_and_tools(settings: "Settings") -> Iterable[str]:
    yield from _servers(settings)
    yield from _tools(settings)


def _clients(_settings: "Settings") -> Iterable[str]:
    return [client.name for client in client_config.CLIENTS]


def _profiles(settings: "Settings") -> Iterable[str]:
    return {gateway.DEFAULT_PROFILE, *settings.gateway.profiles}


def _keys(settings: "Settings") -> Iterable[str]:
    return [key.name for key in gateway.keys_of(settings).all()]


def _apps(settings: "Settings") -> Iterable[str]:
    known, _ = apps.SDKToolsCache(settings.state_folder / "apps" / "known").read_all()
    return [app.name for app in known]


_COMPLETED: Mapping[str, Names] = {
    "SERVER": _servers,
    "TOOL": _tools,
    "SERVER|TOOL": _servers_and_tools,
    "KEY": _keys,
    "APP": _apps,
    "--client": _clients,
    "--profile": _profiles,
}
