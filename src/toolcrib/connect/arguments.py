"""The arguments of `toolcrib connect`, read without any library.

The full command line reads the same arguments, has the help and the errors. This one reads only
what is right, and leaves everything else to that.
"""

from collections.abc import Sequence
from typing import NamedTuple

COMMAND = "connect"
PROFILE = "default"


class ConnectOptions(NamedTuple):
    """Which settings, which further files with servers, and which profile."""

    config: str = ""
    mcp_config: tuple[str, ...] = ()
    profile: str = PROFILE


def parse_connect(arguments: Sequence[str]) -> ConnectOptions | None:
    """The options; None unless the command is `connect`, with options that it has and no more.

    `--config` and `--mcp-config` may stand before the command or behind it.
    """
    options, seen, words = ConnectOptions(), False, iter(arguments)
    for word in words:
        option, is_joined, value = word.partition("=")
        if word == COMMAND and not seen:
            seen = True
            continue
        if not is_joined:
            value = next(words, "")
        changed = _with_option(options, option, value, seen=seen)
        if changed is None or not value:
            return None
        options = changed
    return options if seen else None


def _with_option(
    options: ConnectOptions, option: str, value: str, *, seen: bool
) -> ConnectOptions | None:
    match option:
        case "--config":
            return options._replace(config=value)
        case "--mcp-config":
            return options._replace(mcp_config=(*options.mcp_config, value))
        case "--profile" if seen:
            return options._replace(profile=value)
        case _:
            return None
