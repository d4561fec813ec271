"""What a section declares of a key: its default, what it does, its type, and the bounds of a value.

    timeout_s: float = setting(default=60.0, gt=0, description="How long a tool may take.")

Nothing is checked here: `section` takes plain values, `validation` judges the others.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """What a section declares of one key. `...` is no default: a value has to be given.

    `check` raises `ValueError` for a value that cannot be used; whatever has no sense to it, it
    leaves to the check of the type.
    """

    default: Any
    description: str = ""
    bounds: Mapping[str, float] = MappingProxyType({})
    check: Callable[[object], None] | None = None
    type: Any = object


def setting(  # noqa: PLR0913 - what can be said of a key, each by its name
    *,
    default: object,
    description: str,
    gt: float | None = None,
    ge: float | None = None,
    le: float | None = None,
    check: Callable[[object], None] | None = None,
) -> Any:  # noqa: ANN401 - the declaration stands where the value will be
    """Declare a key: its default, what it does, and the bounds of its value."""
    bounds = {"gt": gt, "ge": ge, "le": le}
    given = {name: bound for name, bound in bounds.items() if bound is not None}
    return Setting(default, description, given, check)
