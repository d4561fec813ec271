"""The options before the command, and what they lead to: settings, crib, servers, gateway.

Every command has these options, and few need all that they lead to. So what reads settings or opens
a crib is loaded by the method that does.
"""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib import connect, gateway
from toolcrib.cli.screen import warn
from toolcrib.cli.warnings import warn_once
from toolcrib.crib import SharedDocuments
from toolcrib.errors import ConfigError, StoreAway

if TYPE_CHECKING:
    from toolcrib.connect import DaemonFiles
    from toolcrib.crib import Crib
    from toolcrib.model import Json
    from toolcrib.settings import Settings
    from toolcrib.sources.mcp import McpServers


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """The settings file, if one is named, and more files with MCP servers and modules of tools."""

    config: Path | None = None
    mcp_config: tuple[Path, ...] = ()
    tools: tuple[str, ...] = ()
    shared: SharedDocuments = field(default_factory=SharedDocuments, compare=False)

    def settings(
        self,
        *,
        content: bytes | None = None,
        changes: Mapping[str, str] | None = None,
    ) -> "Settings":
        """The settings, read now. Raises `ConfigError`.

        `content` stands for the content of the settings file; `changes` are more variables of the
        environment, which win.
        """
        from toolcrib.settings import load_settings

        environ = {**os.environ, **(changes or {})}
        settings = load_settings(environ, self.config, content)
        if settings.database:
            try:
                self.shared.fetch(settings)
            except StoreAway as error:
                warn(f"{error}; this is what was known before")
            settings = load_settings(environ, self.config, content)  # with the servers that came
        named = (*settings.mcp_config, *(path.absolute() for path in self.mcp_config))
        modules = (*settings.tool_modules, *self.tools)
        update = {"mcp_config": tuple(dict.fromkeys(named)), "tool_modules": modules}
        return settings.model_copy(update=update)

    def lasting_settings(self) -> tuple["Settings", str]:
        """The settings of a process that lasts, and what is wrong with their file, if anything.

        If the file is broken, the last good copy of it counts. Raises `ConfigError` without one.
        """
        from toolcrib.settings import Settings, settings_file
        from toolcrib.system import LastGoodCopies

        file = settings_file(os.environ, self.config)
        copies = LastGoodCopies(Settings().state_folder)
        try:
            content = file.read()
            settings = self.settings(content=content)
        except ConfigError as error:
            gone = isinstance(error.__cause__, FileNotFoundError)
            copy = None if gone else copies.read(file.path)
            if copy is None:
                raise
            with suppress(ConfigError):  # what is wrong may not be in the file
                before = self.settings(content=copy)
                return before, f"{error}. Until then, what it said before holds"
            raise
        copies.keep(file.path, content)
        return settings, ""

    def files(self, settings: "Settings") -> tuple[Path, ...]:
        """What those settings were read from: their file, and the files with servers and rules."""
        from toolcrib.settings import (
            own_servers_file,
            rules_file,
            settings_file,
            tenant_document_file,
        )

        file = settings_file(os.environ, self.config).path
        own = [own_servers_file(), rules_file()]
        if settings.database:
            own.append(tenant_document_file(settings.tenant))
        return tuple(dict.fromkeys((file, *own, *settings.mcp_config)))

    @contextmanager
    def crib(self) -> Generator["Crib"]:
        """A crib with everything that the settings name; what is wrong goes to stderr, once."""
        from toolcrib.crib import Crib

        settings = self.settings()
        with Crib.from_settings(settings) as crib:
            warn_once(settings.state_folder, "all", crib.problems)
            yield crib

    @contextmanager
    def mcp(self) -> Generator["McpServers"]:
        """The MCP servers that the settings name, alone; what is wrong goes to stderr, once."""
        from toolcrib.sources.mcp import McpServers
        from toolcrib.wiring import event_log_of, stores_of

        settings = self.settings()
        stores = stores_of(settings)
        log = event_log_of(settings, stores)
        servers = McpServers.open(settings.mcp_config, stores, record=log.append)
        try:
            warn_once(settings.state_folder, "servers", servers.problems)
            yield servers
        finally:
            servers.close()
            log.close()
            stores.close()


def daemon_place(options: GlobalOptions) -> "DaemonFiles":
    """Where the daemon of these options is, if it runs."""
    files = tuple(str(path) for path in options.mcp_config)
    return connect.locate_daemon(
        connect.ConnectOptions(str(options.config or ""), files), os.environ
    )


def tell_gateway(options: GlobalOptions) -> None:
    """Let a gateway that runs take the change at once.

    If it does not answer, it takes the change by itself a moment later. If none runs, only the
    copies of the files are brought up to date, because they may hold secrets.
    """
    from toolcrib.sources.mcp import read_servers
    from toolcrib.system import LastGoodCopies

    if gateway.is_daemon_running(daemon_place(options)):
        ask_if_running(options, "changed")
    else:
        settings = options.settings()
        read_servers(settings.mcp_config, LastGoodCopies(settings.state_folder))


def ask_if_running(options: GlobalOptions, do: str, **more: "Json") -> "Json":
    """The reply of the gateway; None if none runs. A refusal is a warning, and no error."""
    place = daemon_place(options)
    if not gateway.is_daemon_running(place):
        return None
    try:
        return gateway.ask_daemon(place, do, **more)
    except ConfigError as error:
        warn(str(error))
        return None
