"""Python modules whose functions are tools, named by the operator: `my_package.tools`, `tools.py`.

Of a module, those functions are tools that are marked with `@tool`, and those that a tools.yaml
describes by their name.
"""

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from inspect import isroutine
from pathlib import Path
from types import ModuleType

from toolcrib.errors import SourceError, ToolcribError
from toolcrib.sources.builtin import BuiltinSource
from toolcrib.sources.function import is_declared


def add_module(source: BuiltinSource, reference: str) -> None:
    """Add the tools of a module, by its name or by its file. Raises `SourceError`.

    A function that is no tool joins the source's `mistakes`, and costs no other.
    """
    module = _imported(reference)
    found = list(_functions(module, source))
    if not found:
        told = "mark functions with `@tool`, or describe them in a tools.yaml"
        raise SourceError(f"{reference}: no function in it is a tool; {told}")
    for function in found:
        try:
            source.add(function)
        except ToolcribError as error:
            source.mistakes.append(f"{reference}: {error}")


def _functions(module: ModuleType, source: BuiltinSource) -> Iterator[Callable[..., object]]:
    for name, found in vars(module).items():
        if is_declared(found) or (isroutine(found) and source.describes(name)):
            yield found


def _imported(reference: str) -> ModuleType:
    try:
        path = Path(reference)
        return _from_file(path) if path.suffix == ".py" else importlib.import_module(reference)
    except Exception as error:  # an import runs code that is not ours
        told = f"cannot be imported ({type(error).__name__}: {error}); name a module or a .py file"
        raise SourceError(f"{reference}: {told}") from error


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path.absolute())
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
