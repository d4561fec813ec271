"""Capabilities that are files, skills and agents: listed and read, never called."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from toolcrib.errors import DeclarationError, SourceError, UnknownTool
from toolcrib.model import AgentInfo, Call, CallContext, Outcome, SkillInfo, SourceKind, State
from toolcrib.sources.definition import clean_file

MAX_DEPTH = 4
_HIDDEN = "there is hidden text in it ({}); models do not get to read that: look at the file"

C = TypeVar("C", SkillInfo, AgentInfo)


@dataclass(frozen=True, slots=True)
class FileListing(Generic[C]):
    """The capabilities in the files, by name, and the problems of the files without one."""

    found: dict[str, C]
    problems: tuple[str, ...]


class FileSource(Generic[C]):
    """The files that `find` finds; `read` makes a capability of each.

    A file that cannot be read becomes a problem, and hides no other.
    """

    kind: SourceKind = "files"
    id: str | None = None

    def __init__(self, find: Callable[[], Sequence[Path]], read: Callable[[Path], C]) -> None:
        self._find = find
        self._read = read
        self._listing: FileListing[C] | None = None

    def capabilities(self) -> Sequence[C]:
        """The capabilities in the files now, in the order of their paths. Raises `SourceError`."""
        return tuple(self._list_files().found.values())

    @property
    def problems(self) -> tuple[str, ...]:
        """What was wrong when the files were last listed, one message a file."""
        return (self._listing or self._list_files()).problems

    def state(self, name: str) -> State:
        """What is in a file is always ready. Raises `UnknownTool`."""
        if name not in (self._listing or self._list_files()).found:
            raise UnknownTool(f"no skill or agent {name!r} here; list them again, or search for it")
        return "ready"

    async def call(self, call: Call, context: CallContext) -> Outcome:  # noqa: ARG002 - nothing runs
        """Always raises `UnknownTool`: there are no tools here."""
        raise UnknownTool(
            f"{call.name!r} is not a tool to call: read it if it is a skill, "
            "hand it the work if it is an agent"
        )

    def _list_files(self) -> FileListing[C]:
        self._listing = _listing(self._find(), self._read)
        return self._listing


def find_files(folder: Path, *patterns: str) -> Sequence[Path]:
    """Files whose name fits a pattern, a few folders deep, none of them hidden; sorted.

    Raises `SourceError` when the folder cannot be listed.
    """
    try:
        next(folder.iterdir(), None)
    except OSError as error:
        raise SourceError(f"{folder} cannot be listed ({error.strerror}); name a folder") from error
    globs = ["*/" * depth + pattern for depth in range(MAX_DEPTH + 1) for pattern in patterns]
    found = {path for glob in globs for path in folder.glob(glob)}
    return sorted(path for path in found if _is_visible(path, folder))


def read_within(folder: Path, read: Callable[[Path], C]) -> Callable[[Path], C]:
    """The same `read`, which raises `DeclarationError` for a link that leads out of the folder."""

    def read_here(path: Path) -> C:
        if path.resolve().is_relative_to(folder.resolve()):
            return read(path)
        todo = "so it is not read; name the folder that it leads to"
        raise DeclarationError(f"{path}:1: is a link out of {folder}, {todo}")

    return read_here


def _is_visible(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    return path.is_file() and not hidden


def _listing(paths: Sequence[Path], read: Callable[[Path], C]) -> FileListing[C]:
    found: dict[str, C] = {}
    problems: list[str] = []
    for path in paths:
        try:
            capability = clean_file(read(path))
        except DeclarationError as error:
            problems.append(str(error))
            continue
        if capability.flags:
            problems.append(f"{path}:1: {_HIDDEN.format(', '.join(capability.flags))}")
        if not capability.name.strip():
            continue
        first = found.setdefault(capability.name, capability)
        if first is not capability:
            problems.append(f"{path}:1: {first.path} is named {first.name!r} too; rename one")
    return FileListing(found, tuple(problems))
