"""What a server's process gets to see of our environment: an allow-list, and what it was given."""

import os
from collections.abc import Mapping

from toolcrib.errors import ConfigError
from toolcrib.sources.mcp.server import Command
from toolcrib.sources.mcp.variables import filled_all

ALLOWED = frozenset(
    {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ"}
    | {"USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}
)


def environment(command: Command, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of the process. Raises `ConfigError` for a variable that is not set."""
    ours = os.environ if environ is None else environ
    missing = [name for name in command.env_from.values() if name not in ours]
    if missing:
        raise ConfigError(f"the variable {missing[0]} is not set; set it where Toolcrib is started")
    inherited = {name: value for name, value in ours.items() if name in ALLOWED}
    named = {name: ours[of_ours] for name, of_ours in command.env_from.items()}
    return inherited | named | filled_all(command.env, ours)
