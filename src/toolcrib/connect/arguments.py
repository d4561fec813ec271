"""The arguments of `toolcrib connect` and `toolcrib serve --stdio`, read without any library.

The full command line reads the same arguments, has the help and the errors. This one reads only
what is right, and leaves everything else to that.
"""

from collections.abc import Sequence
from typing import NamedTuple

COMMAND = "connect"
SERVE, STDIO = "serve", "--stdio"
GLOBAL = ("--config", "--mcp-config")
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
    return _parse(arguments, COMMAND)


def parse_serve_stdio(arguments: Sequence[str]) -> ConnectOptions | None:
    """The same for `serve --stdio`, where they stand before the command alone."""
    words = list(arguments)
    if words.count(SERVE) != 1 or words.count(STDIO) != 1:
        return None
    behind = words[words.index(SERVE) :]
    if STDIO not in behind or any(word.startswith(GLOBAL) for word in behind):
        return None
    words.remove(STDIO)
    return _parse(words, SERVE)


def _parse(arguments: Sequence[str], command: str) -> ConnectOptions | None:
    options, seen, words = ConnectOptions(), False, iter(arguments)
    for word in words:
        option, is_joined, value = word.partition("=")
        if word == command and not seen:
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
