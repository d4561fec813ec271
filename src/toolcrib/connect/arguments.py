"""What `toolcrib connect` was asked for, read without any library.

The full command line reads the same words, helps and complains; this reads only what is right, and
leaves everything else to that one.
"""

from collections.abc import Sequence
from typing import NamedTuple

COMMAND = "connect"
PROFILE = "default"


class ConnectOptions(NamedTuple):
    """Which settings, which files with servers beside them, and which part of the pool."""

    config: str = ""
    mcp_config: tuple[str, ...] = ()
    profile: str = PROFILE


def parse_connect(arguments: Sequence[str]) -> ConnectOptions | None:
    """What was asked for; None unless it is `connect`, with options that it has and nothing else.

    `--config` and `--mcp-config` may stand before the command or behind it.
    """
    asked, seen, words = ConnectOptions(), False, iter(arguments)
    for word in words:
        option, is_joined, value = word.partition("=")
        if word == COMMAND and not seen:
            seen = True
            continue
        if not is_joined:
            value = next(words, "")
        taken = _with_option(asked, option, value, seen=seen)
        if taken is None or not value:
            return None
        asked = taken
    return asked if seen else None


def _with_option(
    asked: ConnectOptions, option: str, value: str, *, seen: bool
) -> ConnectOptions | None:
    match option:
        case "--config":
            return asked._replace(config=value)
        case "--mcp-config":
            return asked._replace(mcp_config=(*asked.mcp_config, value))
        case "--profile" if seen:
            return asked._replace(profile=value)
        case _:
            return None
