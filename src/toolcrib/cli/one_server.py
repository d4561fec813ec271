"""The server that a command is about."""

from collections.abc import Sequence

from toolcrib.errors import ConfigError
from toolcrib.sources.mcp.source import McpSource
from toolcrib.text.nearest import nearest


def one_server(name: str, sources: Sequence[McpSource]) -> McpSource:
    """The source of this name, or of this prefix. Raises `ConfigError` with the nearest names."""
    for source in sources:
        if name in (source.server, source.id):
            return source
    near = ", ".join(nearest(name, [source.server for source in sources])) or "none"
    raise ConfigError(f"no MCP server {name!r} is configured; nearest: {near}")
