"""The rule about declared links."""

from collections import Counter
from collections.abc import Iterator

from toolcrib.lint.shelf import Shelf, Told
from toolcrib.text.nearest import nearest


def unknown_link(shelf: Shelf) -> Iterator[Told]:
    """It says that it is often used with something that is not here, or is several things."""
    bare = Counter(entry.bare for entry in shelf.entries.values())
    for name, entry in shelf.entries.items():
        if entry.capability.kind == "tool":
            for link in entry.capability.often_with:
                if link not in shelf.entries and bare[link] != 1:
                    near = nearest(link, list(shelf.entries), limit=1)
                    maybe = f"; did you mean {near[0]}?" if near else ""
                    yield Told(
                        name,
                        f"names {link!r} in often_with, and no one tool is called so{maybe}",
                    )
