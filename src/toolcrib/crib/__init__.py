"""The crib: the one place that knows every stage and joins them."""

from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.crib.crib import HOST, Crib
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "crib": ("HOST", "Crib"),
        },
    )

__all__ = [
    "HOST",
    "Crib",
]
