"""A server's command in a box of its own: bubblewrap, or a container of Docker or Podman.

It sees the programs of the system, itself, an empty home that is its own and lasts, and what its
entry names (`isolation_paths`); nothing else of the disk, and no network if the entry says so. What
it was given in `env` goes in, and nothing else of ours. Command lines are made here as data; who
starts them is the launcher, as always.
"""

import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from toolcrib.errors import ConfigError
from toolcrib.settings import cache_folder
from toolcrib.sources.mcp.config.environment import server_environment
from toolcrib.sources.mcp.config.server import Isolation, IsolationTool, ServerCommand
from toolcrib.sources.mcp.identity import program_words
from toolcrib.sources.mcp.outcome import StartDiagnosis

FOLDER = "isolated"
INNER_HOME = "/home/toolcrib"
INSTALL: Mapping[IsolationTool, str] = {
    "bwrap": "install bubblewrap (Debian, Ubuntu: `apt install bubblewrap`)",
    "docker": "install Docker",
    "podman": "install Podman (Debian, Ubuntu: `apt install podman`)",
}
IMAGES: Mapping[str, str] = {
    **dict.fromkeys(("npx", "npm", "node"), "node:lts-slim"),
    **dict.fromkeys(("uvx", "uv"), "ghcr.io/astral-sh/uv:debian-slim"),
    **dict.fromkeys(("python", "python3"), "python:3-slim"),
}
"""The image of each usual command, if the entry names no `isolation_image`."""
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
_SETTINGS = (
    *("alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "gai.conf"),
    *("group", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "mime.types"),
    *("nsswitch.conf", "passwd", "pki", "protocols", "resolv.conf", "services", "ssl"),
)
_OUTSIDE = frozenset({"TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"})

_CERTIFICATES = frozenset(
    {"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"}
)
"""Variables that name certificate files."""


_SECRETS = (
    *(".env*", "*.pem", "*.key", "id_*", "credentials*", "secrets*"),
    *(".netrc", ".npmrc", ".pypirc", ".git-credentials"),
)
"""How files with secrets are called."""


class LaunchPlan(NamedTuple):
    """What to start: words, environment, folder; and the command that cleans up, if any."""

    words: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    cleanup: tuple[str, ...] = ()


def launch_plan(server: str, command: ServerCommand, env: Mapping[str, str]) -> LaunchPlan:
    """How to start the command, isolated if its entry says so. Raises `ConfigError`."""
    isolation = command.isolation
    if isolation is None:
        return LaunchPlan((command.command, *command.args), env, command.cwd)
    tool = shutil.which(isolation.tool)
    if tool is None:
        todo = f"{INSTALL[isolation.tool]}, or take `isolation` out of its entry"
        raise ConfigError(f"it is to run in {isolation.tool}, which is not installed; {todo}")
    for path, _ in isolation.paths:
        if not Path(path).exists():
            raise ConfigError(f"{path}, of its `isolation_paths`, is not there; correct that")
    if isolation.tool == "bwrap":
        return _bubble(tool, server, command, isolation, env)
    return _container(tool, server, command, isolation, env)


def exposed_secrets(command: ServerCommand) -> Sequence[str]:
    """Files that by their names have secrets, in the folders of scripts that a sandbox gets."""
    if command.isolation is None:
        return ()
    named = {path for path, _ in command.isolation.paths}
    given = (Path(each) for each in _scripts(command, str(Path.home())) if each not in named)
    folders = [each for each in given if each.is_dir()]
    return [str(path) for each in folders for kind in _SECRETS for path in sorted(each.glob(kind))]


def missing_program(command: ServerCommand) -> StartDiagnosis | None:
    """Which program has to be installed before the command can start, as far as one can see.

    Raises `ConfigError` for a variable that is not set.
    """
    box = command.isolation
    if box and not shutil.which(box.tool):
        reason = f"it is to run in {box.tool}, which is not there"
        return StartDiagnosis(reason, INSTALL[box.tool])
    if box and box.tool != "bwrap":
        return None  # the command is within the image
    path = server_environment(command).get("PATH", os.defpath)
    place = str(Path(command.cwd or ".", command.command))
    if shutil.which(place if os.sep in command.command else command.command, path=path):
        return None
    reason = f"its command {command.command!r} is not there"
    return StartDiagnosis(reason, "install it, or correct `command`")


def _bubble(
    tool: str, server: str, command: ServerCommand, isolation: Isolation, env: Mapping[str, str]
) -> LaunchPlan:
    home = env.get("HOME") or str(Path.home())
    words = ["--die-with-parent", "--new-session", "--unshare-all"]
    words += ["--share-net"] if isolation.network else []
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - its own
    for path in (*_SYSTEM, *(f"/etc/{name}" for name in _SETTINGS), "/run/systemd/resolve"):
        words += ["--ro-bind-try", path, path]
    words += ["--bind", str(_own_home(server)), home]
    for path in _needed(command, env, home):
        words += ["--ro-bind", path, path]
    for path, mode in isolation.paths:
        words += ["--bind" if mode == "rw" else "--ro-bind", path, path]
    words += ["--chdir", command.cwd or home]
    inside = {name: value for name, value in env.items() if name not in _OUTSIDE}
    return LaunchPlan((tool, *words, "--", command.command, *command.args), inside, None)


def _container(
    tool: str, server: str, command: ServerCommand, isolation: Isolation, env: Mapping[str, str]
) -> LaunchPlan:
    image = isolation.image or IMAGES.get(command.command)
    if not image:
        remedy = f"name the image that has {command.command!r} as `isolation_image`"
        raise ConfigError(f"it is to run in {isolation.tool}; {remedy}")
    name = f"toolcrib-{_plain(server)}-{secrets.token_hex(4)}"
    words = ["run", "-i", "--rm", "--init", "--name", name]
    words += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    words += [] if isolation.network else ["--network", "none"]
    words += ["--volume", f"toolcrib-{_plain(server)}:{INNER_HOME}", "--env", f"HOME={INNER_HOME}"]
    for variable in dict.fromkeys((*command.env, *command.env_from)):
        words += ["--env", variable]  # by name alone: a value would stand in the list of processes
    named = dict(isolation.paths)
    scripts = [path for path in _scripts(command, INNER_HOME) if path not in named]
    for path, mode in (*((path, "ro") for path in scripts), *isolation.paths):
        words += ["--mount", _mount(path, mode)]
    words += ["--workdir", command.cwd] if command.cwd else []
    line = (tool, *words, image, command.command, *command.args)
    return LaunchPlan(line, env, None, (tool, "rm", "--force", name))


def _mount(path: str, mode: str) -> str:
    if "," in path:
        raise ConfigError(f"{path}: a folder with a comma in its name cannot be handed in")
    return f"type=bind,src={path},dst={path}{',readonly' if mode == 'ro' else ''}"


def _own_home(server: str) -> Path:
    """The home folder of an isolated server, which it shares with no other."""
    home = cache_folder() / FOLDER / _plain(server)
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        message = f"{home}: cannot be made: {error.strerror}; change its permissions"
        raise ConfigError(message) from error
    return home


def _plain(server: str) -> str:
    """A name for a folder or a container, unique for each server."""
    plain = re.sub(r"[^a-z0-9]+", "-", server.lower()).strip("-")[:32] or "server"
    return f"{plain}-{hashlib.sha256(server.encode()).hexdigest()[:8]}"


def _needed(command: ServerCommand, env: Mapping[str, str], home: str) -> Sequence[str]:
    """What the command needs to run: its program, its script, its folder."""
    programs = [*_programs(command, env, home)]
    if not programs:
        raise ConfigError(
            f"its command {command.command!r} is not there; install it, or correct it"
        )
    given = [path for name, path in env.items() if name in _CERTIFICATES and Path(path).exists()]
    found = [*programs, *_scripts(command, home), *given]
    return [path for path in dict.fromkeys(found) if not _is_system(path)]


def _is_system(path: str) -> bool:
    return any(Path(path).is_relative_to(system) for system in _SYSTEM)


def _programs(command: ServerCommand, env: Mapping[str, str], home: str) -> Iterator[str]:
    """Where the program is installed, and all links on the way there."""
    placed = str(Path(command.cwd or ".", command.command).absolute())
    name = placed if os.sep in command.command else command.command
    found = shutil.which(name, path=env.get("PATH", os.defpath))
    path = Path(found).absolute() if found else None
    for _ in range(8):  # links upon links
        if path is None:
            return
        yield _around(path.parent.parent if path.parent.name == "bin" else path.parent, path, home)
        path = Path(os.path.normpath(path.parent / path.readlink())) if path.is_symlink() else None


def _scripts(command: ServerCommand, home: str) -> Iterator[str]:
    """The folders of the files that the program is to run, and the one it starts in."""
    if command.cwd:
        yield command.cwd
    for word in program_words((command.command, *command.args))[1:]:
        path = Path(command.cwd or ".", word).absolute()
        if path.is_file():
            yield _around(path.parent, path, home)


def _around(folder: Path, path: Path, home: str) -> str:
    """The folder; only the file, if the folder is the home or contains it, or holds too much."""
    wide = Path(home).is_relative_to(folder) or folder == Path(home, ".local")
    return str(path) if wide else str(folder)
