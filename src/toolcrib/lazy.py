"""Names that a package promises and loads when they are first asked for (PEP 562).

    if TYPE_CHECKING:
        from toolcrib.store.catalog_file import SqliteStore
    else:
        table = {"sqlite": ("SqliteStore",)}
        __getattr__, __dir__, __all__ = lazy_names(__name__, table)

Importing such a package costs nothing: whoever wants one name pays for that one alone. A type
checker reads the imports, the run reads the table, and a test compares them.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(
    package: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package whose modules have these names."""
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return load, names, sorted(home_of)
