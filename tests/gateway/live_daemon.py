"""A daemon as the command line starts it, over files that a test writes while it runs."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.gateway import echo_servers
from tests.gateway.daemons import files_in, serving
from tests.sources.mcp.faking import FAKE
from tests.waiting import until_async
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.crib import Crib, inventory_of
from toolcrib.gateway import ask_daemon
from toolcrib.gateway import daemon as daemons
from toolcrib.gateway.daemon import Daemon
from toolcrib.model import Json
from toolcrib.settings import config_folder, own_servers_file

QUIET = """store = ":memory:"
builtin_tools = false
plugins = false
[apps]
enabled = false
[embed]
embedder = "none"
"""


def entry(*modes: str, **others: Any) -> dict[str, Any]:
    """A fake server as a file has it, whose tools only read."""
    args = ["-S", str(FAKE), *modes]
    return {"command": sys.executable, "args": args, "permission": {"*": "read"}, **others}


class LiveDaemon:
    """The files of a daemon in their folder, and what one sees of it from outside."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.servers, self.settings = own_servers_file(), config_folder() / "config.toml"
        config_folder().mkdir(parents=True)
        self.write_settings()

    def write(self, servers: dict[str, Any], file: Path | None = None) -> None:
        """Write the file with servers, ours if none is named, as an editor does."""
        (file or self.servers).write_text(json.dumps({"mcpServers": servers}, indent=1))

    def break_off(self, file: Path | None = None) -> None:
        """Leave the last brace of a file out."""
        path = file or self.servers
        path.write_text(path.read_text().rstrip().removesuffix("}").rstrip())

    def write_settings(self, top: str = "", tables: str = "") -> None:
        """Write the settings file: these lines above all tables, and these below."""
        self.settings.write_text(f"{top}\n{QUIET}{tables}")

    @asynccontextmanager
    async def serving(self, **options: Any) -> AsyncGenerator[Daemon]:
        """The daemon, with its servers on its own loop, as long as this lasts."""
        loop, opening = asyncio.get_running_loop(), GlobalOptions()
        opened = daemons.DaemonSetup(
            opening.lasting_settings,
            lambda settings: Crib.from_settings(settings, loop=loop),
            options.pop("servers", echo_servers.EchoServers),
            opening.files,
        )
        async with serving(self.folder, opening=opened, **options) as (daemon, _):
            yield daemon

    async def ask(self, do: str, **more: Json) -> Any:
        """Ask the daemon as a command does. Raises `ConfigError`."""
        return await asyncio.to_thread(ask_daemon, files_in(self.folder), do, **more)


async def listed(daemon: Daemon, *names: str) -> None:
    """Wait until the daemon knows just these servers, and the tools of each."""

    def has_all() -> bool:
        servers = inventory_of(daemon.serving.crib).servers
        return set(servers) == set(names) and all(
            any(
                each.capability.source_id == name for each in daemon.serving.crib.entries().values()
            )
            for name in names
        )

    await until_async(has_all, f"the servers are {names}")


async def pid_of(daemon: Daemon, server: str) -> int:
    """The process of a fake server, which is started for it."""
    outcome = await daemon.serving.crib.call(f"mcp_{server}_echo", {})
    assert outcome.ok, outcome
    match outcome.structured:
        case {"pid": int(pid)}:
            return pid
        case other:
            raise AssertionError(other)
