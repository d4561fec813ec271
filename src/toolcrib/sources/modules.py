"""Python modules whose functions are tools, named by the operator: `my_package.tools`, `tools.py`.

In a module that the settings name, a function is a tool if it is marked with `@tool`, or if a
tools.yaml describes it by its name: the operator may not have written the module. A program that
adds a module of its own adds every public function in it (`public_functions`).
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from inspect import getdoc, isroutine
from pathlib import Path
from types import ModuleType
from typing import cast

from toolcrib.errors import DeclarationError, SourceError, ToolcribError
from toolcrib.sources.function import (
    Function,
    ToolFacts,
    facts_of,
    function_from,
    is_declared,
    module_of,
)
from toolcrib.sources.function_source import FunctionSource


def add_module(source: FunctionSource, reference: str) -> None:
    """Add the tools of a module, by its name or by its file. Raises `SourceError`.

    A function that cannot be a tool is added to the source's `mistakes`; the others count.
    """
    module = _imported(reference)
    found = list(_functions(module, source))
    if not found:
        remedy = "mark functions with `@tool`, or describe them in a tools.yaml"
        raise SourceError(f"{reference}: no function in it is a tool; {remedy}")
    for function in found:
        try:
            source.add(function)
        except ToolcribError as error:
            source.mistakes.append(f"{reference}: {error}")


def public_functions(module: object, facts: ToolFacts) -> list[Function]:
    """The functions that a module defines and does not hide, as tools, in the order of the file.

    Hidden is what begins with `_` or, where there is an `__all__`, is not in it. The facts are for
    all of them, and what `@tool` says of one counts for more. Raises `DeclarationError` for what is
    no module, for one without such functions, and for a function that nothing describes.
    """
    if not isinstance(module, ModuleType):
        message = f"{module!r:.80} is not a module; `import my_tools`, then add_all(my_tools)"
        raise DeclarationError(message)
    found = [_function(fn, facts) for fn in _public(module)]
    label = module_of(found[0].run) if found else module.__name__
    if not found:
        message = f"{label}: no public function is defined in it; add functions with add(...)"
        raise DeclarationError(message)
    if mute := [it.info.name for it in found if not (it.info.description or getdoc(it.run))]:
        message = (
            f"{label}: {', '.join(mute)} has no docstring, so no search would find it; write one,"
            " or hide a function that is not a tool: begin its name with `_`, or leave it out of"
            " `__all__`"
        )
        raise DeclarationError(message)
    return found


def _public(module: ModuleType) -> Iterator[Callable[..., object]]:
    listed = getattr(module, "__all__", None)
    for name, found in vars(module).items():
        is_own = getattr(found, "__module__", None) == module.__name__ or name in (listed or ())
        is_public = not name.startswith("_") if listed is None else name in listed
        if isroutine(found) and is_own and is_public:
            yield found


def _function(fn: Callable[..., object], facts: ToolFacts) -> Function:
    return function_from(fn, **cast("ToolFacts", {**facts, **facts_of(fn)}))


def _functions(module: ModuleType, source: FunctionSource) -> Iterator[Callable[..., object]]:
    for name, found in vars(module).items():
        if is_declared(found) or (isroutine(found) and source.describes(name)):
            yield found


def _imported(reference: str) -> ModuleType:
    try:
        path = Path(reference)
        return _from_file(path) if path.suffix == ".py" else importlib.import_module(reference)
    except Exception as error:  # an import runs code that is not ours
        cause = f"cannot be imported ({type(error).__name__}: {error})"
        raise SourceError(f"{reference}: {cause}; name a module or a .py file") from error


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path.absolute())
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
