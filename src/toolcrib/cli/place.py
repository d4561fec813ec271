"""From the options of the command line to the place of the daemon that serves them."""

import os

from toolcrib.cli.opening import Opening
from toolcrib.connect.arguments import Asked
from toolcrib.connect.place import Place, place_of


def place_for(opening: Opening) -> Place:
    """Where the daemon of these options is, if it runs."""
    files = tuple(str(path) for path in opening.mcp_config)
    return place_of(Asked(str(opening.config or ""), files), os.environ)
