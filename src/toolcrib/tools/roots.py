"""The folders in which file tools work, and the files that no tool touches.

A path is judged by what it leads to: links are followed first, and a file that is not there yet
counts as what it would become. What Toolcrib keeps for itself (`OwnFiles`) is refused whatever the
roots are: who reads its files has its secrets, and who writes them has its rights.
"""

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

from platformdirs import user_cache_path, user_data_path

from toolcrib.settings import Settings, config_folder
from toolcrib.system import run_folders

F = TypeVar("F", bound=Callable[..., object])

ADD_TO_ROOTS = "the operator can add its folder to the setting `file_roots`"
# The memory and the environment of every process of ours, the daemon among them.
NEVER = (Path("/proc"),)

_MARK = "__toolcrib_files__"


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """What Toolcrib keeps for itself: folders with all that is in them, and single files.

    A file in the same folder whose name begins with the name of such a file belongs to it: a
    database has its journals there.
    """

    folders: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> "OwnFiles":
        """Our folders, and the files that the settings name elsewhere: code, secrets, events."""
        folders = (settings.state_folder, user_data_path("toolcrib"), user_cache_path("toolcrib"))
        running = map(Path, run_folders(os.environ))
        return cls((config_folder(), *folders, *running), tuple(filter(None, _own_files(settings))))


def _own_files(settings: Settings) -> tuple[Path | None, ...]:
    in_memory = settings.store_path == ":memory:"
    beside = settings.events_path, settings.handles_path
    store = () if in_memory else (Path(settings.store_path), *beside)
    modules = (Path(each) for each in settings.tool_modules if each.endswith(".py"))
    return (settings.file, *store, *settings.mcp_config, *settings.tools, *modules)


class Roots:
    """The folders that a call may touch; none means no file. Relative paths begin in the first."""

    def __init__(
        self, folders: Iterable[Path], own: OwnFiles | None = None, remedy: str = ADD_TO_ROOTS
    ) -> None:
        own = own or OwnFiles()
        self._remedy = remedy
        self.folders = tuple(map(_real, folders))
        self._own_folders = tuple(map(_real, (*own.folders, *NEVER)))
        self._own_files = tuple(map(_real, own.files))

    def resolve(self, path: str) -> Path:
        """The real path of what a call has named. Raises `PermissionError`."""
        return self._checked(path, _real(self._placed(path)))

    def resolve_entry(self, path: str) -> Path:
        """The same for what is itself moved, deleted or replaced: a link is that link.

        A folder that holds what is Toolcrib's own, or would hold it, is refused too.
        """
        named = self._placed(path)
        whole = named.name in {"", ".."}
        place = _real(named) if whole else _real(named.parent) / named.name
        self.check_change(path, place)
        return place

    def check_change(self, path: str, place: Path) -> None:
        """Check that a real path may be changed. Raises `PermissionError`."""
        self._checked(path, place)
        if any(place in each.parents for each in (*self._own_folders, *self._own_files)):
            raise _is_own(path)

    def open(self, place: Path) -> BufferedReader:
        """A real path of these roots, for reading; what has become a link meanwhile is refused."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        file = os.fdopen(os.open(place, flags | getattr(os, "O_BINARY", 0)), "rb")
        try:
            self.check_open(file.fileno(), place)
        except BaseException:
            file.close()
            raise
        return file

    def check_open(self, descriptor: int, place: Path) -> None:
        """Check an open file again: its folder may have changed since. Raises `PermissionError`."""
        facts = os.fstat(descriptor)
        self._checked(str(place), _path_of(descriptor, facts, place))
        if facts.st_nlink > 1 and stat.S_ISREG(facts.st_mode) and self._is_linked(facts):
            raise _is_own(str(place))

    def is_own(self, place: Path) -> bool:
        """Whether this, by its real path, belongs to Toolcrib itself."""
        above = (place, *place.parents)
        return (
            any(each in above for each in self._own_folders)
            or any(_is_of(place, each) for each in self._own_files)
            or any(_id(each) in self._own_ids for each in above)
        )

    def _placed(self, path: str) -> Path:
        if not self.folders:
            raise PermissionError(f"file tools may use no folder here; {self._remedy}")
        return self.folders[0] / Path(path).expanduser()

    def _checked(self, path: str, place: Path) -> Path:
        if not any(each == place or each in place.parents for each in self.folders):
            allowed = ", ".join(map(str, self.folders))
            problem = f"{path} is outside the folders that file tools may use ({allowed})"
            raise PermissionError(f"{problem}; name a path in them, or {self._remedy}")
        if self.is_own(place):
            raise _is_own(path)
        return place

    def _is_linked(self, facts: os.stat_result) -> bool:
        """Whether a file with several names has one among what is Toolcrib's own."""
        return (facts.st_dev, facts.st_ino) in {_id(each) for each in self._own_paths()}

    def _own_paths(self) -> Iterator[Path]:
        for file in self._own_files:
            yield from file.parent.glob(f"{file.name}*")
        for folder in set(self._own_folders).difference(NEVER):
            yield from folder.rglob("*")

    @cached_property
    def _own_ids(self) -> frozenset[tuple[int, int] | None]:
        """The folders themselves, however else a system may let their paths be spelt."""
        return frozenset(map(_id, self._own_folders)) - {None}


_ROOTS: ContextVar[Roots] = ContextVar("toolcrib_roots")


@contextmanager
def working_in(roots: Roots) -> Generator[None]:
    """Let file tools touch these folders, in this context alone and as long as it lasts."""
    token = _ROOTS.set(roots)
    try:
        yield
    finally:
        _ROOTS.reset(token)


def roots() -> Roots:
    """The roots of this call. Without `working_in` there is no folder, and nothing is touched."""
    return _ROOTS.get(None) or Roots(())


def uses_files(fn: F) -> F:
    """Mark a tool that takes paths, so that its caller sets the roots."""
    setattr(fn, _MARK, True)
    return fn


def is_file_tool(fn: object) -> bool:
    """Whether `@uses_files` was put on this function."""
    return hasattr(fn, _MARK)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path.expanduser()))


def _is_of(place: Path, file: Path) -> bool:
    return place.parent == file.parent and place.name.startswith(file.name)


def _id(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.lstat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _path_of(descriptor: int, facts: os.stat_result, place: Path) -> Path:
    """Where an open file really is. Raises `PermissionError` if that cannot be told."""
    try:
        return Path(f"/proc/self/fd/{descriptor}").readlink()
    except OSError:  # no Linux: then the path has to lead to it still
        if _id(place) != (facts.st_dev, facts.st_ino):
            raise PermissionError(f"{place} was changed meanwhile; try again") from None
        return _real(place)


def _is_own(path: str) -> PermissionError:
    return PermissionError(
        f"{path} belongs to Toolcrib itself (settings, servers, keys, decisions, runtime files),"
        " or holds what does; no tool may touch it"
    )
