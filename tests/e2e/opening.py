"""Cribs over MCP servers, as a program would open them after `toolcrib refresh`."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.sources.mcp.faking import own_file
from toolcrib import Crib, Settings
from toolcrib.sources.mcp import McpServers, refresh_all
from toolcrib.wiring import stores_of

ALLOW = {"rules": [{"verdict": "allow"}]}


def crib_over(folder: Path, servers: Mapping[str, object], **settings: object) -> Crib:
    """A crib over these servers, each of which was started once, listed, and stopped."""
    config = own_file()
    config.write_text(json.dumps({"mcpServers": servers}))
    given = {"store": ":memory:", "plugins": False, "mcp_config": [str(config)], **settings}
    settings_ = Settings.model_validate(given)
    listing = McpServers.open([config], stores_of(settings_))
    try:
        done = refresh_all(listing.sources)
        assert [each.error for each in done if each.error] == []
    finally:
        listing.close()
    return Crib.from_settings(settings_)
