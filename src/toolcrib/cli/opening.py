"""From the options of the command line to an open crib."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolcrib.cli.screen import warn
from toolcrib.config import Settings, load_settings
from toolcrib.crib import Crib
from toolcrib.sources.mcp.servers import McpServers, mcp_servers


@dataclass(frozen=True, slots=True)
class Opening:
    """The settings file that was asked for, if any, and what was asked for beside it.

    `mcp_config` are files with MCP servers, `tools` are modules with functions.
    """

    config: Path | None = None
    mcp_config: tuple[Path, ...] = ()
    tools: tuple[str, ...] = ()

    def settings(self, *, lasts: bool = False) -> Settings:
        """The settings, read now. Raises `ConfigError`.

        What lasts has its index in memory, unless the settings name another: it is built once, and
        then it answers sooner than a stored one, which is there at once.
        """
        settings = load_settings(os.environ, self.config)
        files = (*settings.mcp_config, *(path.absolute() for path in self.mcp_config))
        index = "memory" if lasts and settings.index == "auto" else settings.index
        modules = (*settings.tool_modules, *self.tools)
        changes = {"mcp_config": files, "tool_modules": modules, "index": index}
        return settings.model_copy(update=changes)

    @contextmanager
    def crib(self) -> Generator[Crib]:
        """A crib with everything that the settings name; what is wrong with it goes to stderr."""
        with Crib.from_settings(self.settings()) as crib:
            for problem in crib.problems:
                warn(problem)
            yield crib

    @contextmanager
    def mcp(self) -> Generator[McpServers]:
        """The MCP servers that the settings name, alone; what is wrong goes to stderr."""
        settings = self.settings()
        servers = mcp_servers(settings.mcp_config, settings.state_folder)
        try:
            for problem in servers.problems:
                warn(problem)
            yield servers
        finally:
            servers.close()
