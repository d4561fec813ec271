"""Installed packages that contribute tools or whole sources.

A package names what it contributes in its pyproject.toml:

    [project.entry-points."toolcrib.plugins"]
    weather = "weather_tools:forecast"

The object named is one of: a function, which becomes a tool; a `Source`; a list of functions and
sources; or something to call without arguments that returns a source or such a list. A function
without parameters is taken for the last, unless `@tool` says that it is a tool itself.
"""

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, TypeGuard, cast

from toolcrib.sources.function import is_declared
from toolcrib.sources.function_source import FunctionSource
from toolcrib.sources.protocol import Source

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "toolcrib.plugins"


@dataclass(frozen=True, slots=True)
class PluginProblem:
    """Why a plugin contributes nothing, and what to do about it."""

    plugin: str
    cause: str
    remedy: str

    def __str__(self) -> str:
        return f"plugin {self.plugin!r}: {self.cause}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Plugins:
    """What the installed plugins contribute, and what is wrong with the others."""

    sources: tuple[Source, ...] = ()
    problems: tuple[PluginProblem, ...] = ()


def load_plugins() -> Plugins:
    """Import the installed plugins, by name. One that fails is a problem, never an exception."""
    if not _may_be_installed():
        return Plugins()
    from importlib.metadata import entry_points  # noqa: PLC0415 - with the library for mail

    sources: list[Source] = []
    problems: list[PluginProblem] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            sources += list(_sources(entry))  # all of them, or none
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may raise anything
            problems.append(_problem(entry, error))
    return Plugins(tuple(sources), tuple(problems))


def _may_be_installed() -> bool:
    """Whether any installed package may name our group.

    Most have no plugin, and `importlib.metadata` takes longer to load than it takes to look into
    the files that it reads. Whatever is found otherwise than in folders, it alone can tell.
    """
    finders = (finder for finder in sys.meta_path if hasattr(finder, "find_distributions"))
    return any(finder is not PathFinder for finder in finders) or any(
        map(_may_name_group, sys.path)
    )


def _may_name_group(folder: str) -> bool:
    try:
        names = os.listdir(folder or os.curdir)  # noqa: PTH208 - names are all that is wanted
    except FileNotFoundError:
        return False
    except OSError:  # an archive
        return True
    described = (name for name in names if name.lower().endswith((".dist-info", ".egg-info")))
    is_named = (_names_group(os.path.join(folder, name)) for name in described)  # noqa: PTH118
    return any(name.lower().endswith(".egg") for name in names) or any(is_named)


def _names_group(described: str) -> bool:
    try:
        with open(os.path.join(described, "entry_points.txt"), "rb") as file:  # noqa: PTH118, PTH123
            return GROUP.encode() in file.read()
    except OSError:
        return False


def _problem(entry: "EntryPoint", error: BaseException) -> PluginProblem:
    package = entry.dist.name if entry.dist else entry.value
    remedy = f"update or uninstall the package {package!r}"
    return PluginProblem(entry.name, f"{type(error).__name__}: {error}", remedy)


def _sources(entry: "EntryPoint") -> Iterator[Source]:
    """The sources that it brings, then one with the functions that it brings, if any."""
    functions = FunctionSource(entry.name)
    for one in _contributions(entry.load()):
        if _is_source(one):
            yield one
        elif callable(one):
            functions.add(one)
        else:
            raise TypeError(f"{one!r:.80} is neither a function nor a source")
    if functions.capabilities():
        yield functions


def _contributions(found: object) -> Iterable[object]:
    made = found() if _is_factory(found) else found
    if _is_source(made) or callable(made):
        return [made]
    if isinstance(made, Iterable) and not isinstance(made, str):
        return cast("Iterable[object]", made)
    raise TypeError(
        f"{made!r:.80} is neither a function nor a source; if a tool returned it, add @tool"
    )


def _is_factory(found: object) -> TypeGuard[Callable[[], object]]:
    if not callable(found) or _is_source(found) or is_declared(found):
        return False
    return inspect.isclass(found) or not inspect.signature(found).parameters


def _is_source(found: object) -> TypeGuard[Source]:
    parts = ("kind", "id", "capabilities", "state", "call")
    return not inspect.isclass(found) and all(hasattr(found, part) for part in parts)
