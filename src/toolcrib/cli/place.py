"""From the options of the command line to the place of the daemon that serves them."""

import os

from toolcrib.cli.opening import Opening
from toolcrib.connect import ConnectOptions, DaemonFiles, locate_daemon


def place_for(opening: Opening) -> DaemonFiles:
    """Where the daemon of these options is, if it runs."""
    files = tuple(str(path) for path in opening.mcp_config)
    return locate_daemon(ConnectOptions(str(opening.config or ""), files), os.environ)
