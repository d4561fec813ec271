"""Commands that install a server before they run it: npx, uvx and the like.

Their first start is an install, which takes minutes on a slow line. It is over when the runner has
started the server: a process below it that is not there to install something.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

from toolcrib.sources.mcp.config.server import ServerCommand, Transport
from toolcrib.system import ProcessInfo, list_process_tree

MOST_NAMES = 256
"""So many names of commands are remembered: most servers have one of a few."""
CONTAINERS = frozenset({"docker", "podman"})
PACKAGE_RUNNERS: dict[str, Sequence[Sequence[str]]] = {
    "npx": [()],
    "uvx": [()],
    "bunx": [()],
    "pnpx": [()],
    "npm": [("exec",), ("x",)],
    "uv": [("tool", "run"), ("run",)],
    "pipx": [("run",)],
    "bun": [("x",)],
    "pnpm": [("dlx",)],
    "yarn": [("dlx",)],
}
"""Each runner of packages, and the first arguments with which it is one; none: always."""
_RUNS = PACKAGE_RUNNERS | {name: [("run",), ("container", "run")] for name in CONTAINERS}
_WRAPPERS = frozenset({"env", "bwrap", "cmd", "nice"})
_INSTALL_EVENTS = frozenset({"preinstall", "install", "postinstall", "prepare"})
"""What npm and its kin call the scripts of a package that is being installed."""
_FETCHERS = frozenset({"git", "ssh"})
_INSTALL_COMMANDS = frozenset({"add", "i", "install"})


@dataclass(frozen=True, slots=True)
class PackageRunner:
    """`name` is the command's own. Of `package`, two are never installed at once.

    One that `unpacks` fills a cache of its own, and leaves it broken if it is killed meanwhile. The
    others hand that to a service, and there is no telling when it is done.
    """

    name: str
    package: str
    unpacks: bool = True

    def is_fetching(self, pid: int) -> bool:
        """Whether the runner, which is or is below this process, has not started its server yet.

        May take some milliseconds: not for an event loop.
        """
        seen = list_process_tree(pid)
        runner = next((each for each in seen if not _is_wrapper(each)), None)
        if runner is None:
            return True  # it is about to begin, or has ended
        if self.name == "pipx":  # becomes the server itself
            return any(PurePath(word).name == "pipx" for word in runner.command[:3])
        below = (each for each in seen if each.parent == runner.pid)
        return all(map(_installs, below))


def package_runner(transport: Transport) -> PackageRunner | None:
    """The package runner that installs this server; None if it needs no install."""
    if not isinstance(transport, ServerCommand):
        return None
    words = (transport.command, *transport.args)
    while words and command_name(words[0]) in _WRAPPERS:
        words = _unwrapped(words[1:])
    if not words:
        return None
    name, rest = command_name(words[0]), words[1:]
    for begin in _RUNS.get(name, ()):
        if rest[: len(begin)] == tuple(begin):
            package = f"{name} {_package(rest[len(begin) :])}"
            return PackageRunner(name, package, unpacks=not _is_in_container(name, transport))
    return None


def _is_in_container(name: str, command: ServerCommand) -> bool:
    isolation = command.isolation
    return name in CONTAINERS or (isolation is not None and isolation.tool in CONTAINERS)


def _package(arguments: Sequence[str]) -> str:
    """The package, as far as one can see: the first argument that is no option."""
    return next((each for each in arguments if not each.startswith("-")), "")


def _unwrapped(words: Sequence[str]) -> tuple[str, ...]:
    """The command that a wrapper runs, and its arguments; nothing if that is not known here."""
    ours = (at for at, word in enumerate(words) if command_name(word) in _RUNS)
    return tuple(words[next(ours, len(words)) :])


@lru_cache(MOST_NAMES)
def command_name(command: str) -> str:
    """A command without its folder, and without what Windows adds to it."""
    name = PurePath(command.replace("\\", "/")).name.lower()
    return re.sub(r"\.(?:cmd|exe|bat|ps1)$", "", name)


def _is_wrapper(seen: ProcessInfo) -> bool:
    """Whether it stands above the runner: our launcher, or what sets the stage for a command."""
    return not seen.command or seen.is_launcher or command_name(seen.command[0]) in _WRAPPERS


def _installs(seen: ProcessInfo) -> bool:
    """Whether a process below a runner is there to install, not to serve."""
    if seen.variable("npm_lifecycle_event") in _INSTALL_EVENTS:
        return True
    if not seen.command:
        return True  # it has ended
    name, words = command_name(seen.command[0]), seen.command[1:4]
    is_snippet = "python" in name and "-c" in words  # how uv looks at Python, and builds packages
    return is_snippet or name in _FETCHERS or not _INSTALL_COMMANDS.isdisjoint(words)
