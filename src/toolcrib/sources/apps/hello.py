"""The first thing an app says, and which of its launch commands are trusted."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from toolcrib.model import JsonObject
from toolcrib.sources.apps.wire import BAD_PARAMS, RemoteError

LONGEST_COMMAND = 64
LONGEST_WORD = 4096
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,47}")


@dataclass(frozen=True, slots=True)
class Hello:
    """Who is there. An empty `launch` means that it cannot be launched."""

    token: str
    name: str
    version: str = ""
    launch: tuple[str, ...] = ()


def hello_of(params: JsonObject) -> Hello:
    """Raises `RemoteError` for what no app may say of itself."""
    match params:
        case {"token": str(token), "name": str(name), **rest} if NAME.fullmatch(name):
            version = rest.get("version", "")
            if not isinstance(version, str) or len(version) > LONGEST_COMMAND:
                raise RemoteError(BAD_PARAMS, "version is a short text")
            return Hello(token, name, version, _command(rest.get("launch", ())))
        case _:
            raise RemoteError(BAD_PARAMS, f"hello has a token and a name like {NAME.pattern}")


def doubt(app: str, trusted: Sequence[str], proposed: Sequence[str]) -> str:
    """What is wrong with a launch command that an app proposes; empty if it is the trusted one.

    Trusted is what the settings say, else what the app said when it was first seen. Another one
    later is not used until the operator puts it into the settings.
    """
    if not proposed or list(proposed) == list(trusted):
        return ""
    return (
        f"app {app!r} wants to be launched by {list(proposed)!r:.500}, which is not what it said "
        f"at first; if that is right, run `toolcrib apps set-command {app} -- COMMAND`"
    )


def _command(value: object) -> tuple[str, ...]:
    words = list[object](value) if isinstance(value, list | tuple) else [None]  # pyright: ignore[reportUnknownArgumentType]
    fits = [word for word in words if isinstance(word, str) and _is_word(word)]
    if len(fits) != len(words) or len(words) > LONGEST_COMMAND:
        raise RemoteError(BAD_PARAMS, "launch is a list of words, for no shell to read")
    if fits and not (PurePath(fits[0]).is_absolute() or PurePath(fits[0]).name == fits[0] != ""):
        raise RemoteError(BAD_PARAMS, "launch begins with a full path, or a name on the PATH")
    return tuple(fits)


def _is_word(word: str) -> bool:
    return len(word) <= LONGEST_WORD and "\0" not in word and word.isprintable()
