"""Names that a package promises and loads when they are first asked for (PEP 562).

    if TYPE_CHECKING:
        from toolcrib.store.catalog_file import SqliteStore
    else:
        __getattr__, __dir__ = lazy_names(__name__, {"sqlite": ("SqliteStore",)})

    __all__ = ["SqliteStore"]

Importing such a package costs nothing: whoever wants one name pays for that one alone. A type
checker reads the imports, the run reads the table, and a test holds both to `__all__`.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(
    package: str, homes: Mapping[str, tuple[str, ...]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of `package`, whose modules have the names in `homes`."""
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return load, names
