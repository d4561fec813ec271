"""The shim's entry: what a client launches in place of all its servers."""

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from toolcrib.client_config.clients import Client
from toolcrib.client_config.entry_format import EntryFormat
from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject

SHIM_NAME = "toolcrib"
CONNECT = "connect"
PROFILE = "--profile"
_STARTS = {CONNECT, "serve"}
_LAUNCHER = re.compile(r"uvx?|pipx|py|python[0-9.]*")


@dataclass(frozen=True, slots=True)
class ShimCommand:
    """The command line of the shim. `options` stand before `connect`, the profile after it.

    Where a launcher starts it, what the launcher needs are the first options.
    """

    command: str
    options: tuple[str, ...] = ()
    profile: str = ""

    def args(self) -> list[str]:
        return [*self.options, CONNECT, *([PROFILE, self.profile] if self.profile else [])]


def shim_command(
    profile: str, config: Path | None, mcp_config: Sequence[Path], *, shared: bool
) -> ShimCommand:
    """The shim that sees what these options see.

    `shared`: the file is shared with people who have Toolcrib elsewhere, so it names no path.
    Raises `ConfigError` where our command is not installed.
    """
    if shared:
        return ShimCommand(SHIM_NAME, profile=profile)
    options = ["--config", str(config.absolute())] if config else []
    for file in mcp_config:
        options += ["--mcp-config", str(file.absolute())]
    command, *launched = launcher() or [installed_command()]
    return ShimCommand(command, (*launched, *options), profile)


def shim_entry(client: Client, fmt: EntryFormat, shim: ShimCommand) -> JsonObject:
    """The entry of the shim in the client's words."""
    args: list[Json] = [*shim.args()]
    kind: dict[str, Json] = {"type": fmt.types[0]} if fmt.types else {}
    words: dict[str, Json] = {"command": [shim.command, *args]}
    if not fmt.one_list:
        words = {"command": shim.command, "args": args}
    return {**fmt.fixed, **kind, **words, **client.shim}


def launcher() -> list[str]:
    """What starts us again where `uvx` or `pipx run` has started us; else nothing.

    They run us from a cache that is emptied some day, so its path is nothing to write into a file.
    """
    place = Path(sys.prefix).parent
    if place.name.startswith(("archive-v", "environments-v")):
        beside = Path(os.environ.get("UV", "uv")).parent
        program = shutil.which("uvx", path=beside) or shutil.which("uvx")
        words, origin_option = [], "--from"
    elif place.name == "pipx" or place.parts[-2:] == ("pipx", ".cache"):
        program = shutil.which("pipx")
        words, origin_option = ["run"], "--spec"
    else:
        return []
    origin = _origin()
    words += [origin_option, origin] if origin else []
    return [str(Path(program).absolute()), *words, SHIM_NAME] if program else []


def _origin() -> str:
    """What we were installed from, as installers take it (PEP 610); empty: a package index."""
    text = metadata.distribution(SHIM_NAME).read_text("direct_url.json")
    origin: dict[str, Any] = json.loads(text) if text else {}
    repository = origin.get("vcs_info")
    if repository:
        return f"{repository['vcs']}+{origin['url']}@{repository['commit_id']}"
    return str(origin.get("url", ""))


def installed_command() -> str:
    """The absolute path of our command. Raises `ConfigError` where it is not installed.

    A client started from a menu has another PATH than a terminal, so a bare name would not do. A
    path on PATH that leads to the same program is preferred: it outlives a new environment.
    """
    name = "toolcrib.exe" if sys.platform == "win32" else "toolcrib"
    next_to_python = Path(sys.executable).with_name(name)
    on_path = shutil.which("toolcrib")
    if on_path and (not next_to_python.exists() or Path(on_path).samefile(next_to_python)):
        return str(Path(on_path).absolute())
    if next_to_python.exists():
        return str(next_to_python)
    raise ConfigError(f"the command `toolcrib` is not at {next_to_python}; install the package")


def is_shim(entry: Json) -> bool:
    """Whether an entry, of a client or of ours, starts the shim, or a gateway of its own."""
    words = _words(entry)
    if not words or not _STARTS & {*words[1:]}:
        return False
    program = Path(words[0]).stem
    launched = _LAUNCHER.fullmatch(program) and any(_is_ours(each) for each in words[1:])
    return program == SHIM_NAME or bool(launched)


def _is_ours(word: str) -> bool:
    return Path(word).stem == SHIM_NAME or word.partition(".")[0] == SHIM_NAME


def shim_path(entry: Json) -> str:
    """The command of a shim's entry."""
    return _words(entry)[0]


def shim_profile(entry: Json) -> str:
    """The profile that a shim's entry asks for; empty if it asks for none."""
    words = _words(entry)
    after = (value for word, value in pairwise(words) if word == PROFILE)
    joined = (word.removeprefix(f"{PROFILE}=") for word in words if word.startswith(f"{PROFILE}="))
    return next(chain(after, joined), "")


def _words(entry: Json) -> Sequence[str]:
    """The command line of an entry as far as it is one."""
    if not isinstance(entry, Mapping):
        return ()
    command, args = entry.get("command"), entry.get("args")
    first = [command] if isinstance(command, str) else command
    parts: list[Json] = []
    for each in (first, args):
        if isinstance(each, Sequence) and not isinstance(each, str):
            parts += each
    return [each for each in parts if isinstance(each, str)]
