"""Who has which name, kept while origins come and go: a change looks at its rivals alone.

The rule: an origin has its plain name, unless another origin has the same plain one, or somebody's
hashed name is spelt just so; then it is hashed. So names depend on which origins there are, never
on their order or on what was there before.
"""

from collections.abc import Callable, Iterable, Mapping

from toolcrib.names.origin import Origin


def name_all(origins: Iterable[Origin]) -> Mapping[Origin, str]:
    """A name for each origin, no two alike. Where several have one plain name, all are hashed.

    An origin whose plain name equals one of these hashed names is hashed too.
    """
    book = NameBook()
    for origin in origins:
        book.put(origin)
    book.settle()
    return book.names


class NameBook:
    """The names of some origins; `settle` after each change.

    `wanted` is called with each name that somebody here wants, before it is given. Whoever has it
    and is not here yet has to `enter` then.
    """

    def __init__(self, wanted: Callable[[str], None] = lambda _name: None) -> None:
        self.names: dict[Origin, str] = {}
        self._wanted = wanted
        self._holders: dict[str, Origin] = {}
        self._rivals: dict[str, list[Origin]] = {}
        self._hashed: dict[str, int] = {}
        self._touched: set[str] = set()

    def __contains__(self, name: object) -> bool:
        """Whether this is the name of an origin here, or its plain name."""
        return name in self._holders or name in self._hashed

    def __len__(self) -> int:
        return len(self._holders) + len(self._hashed)

    def every_name(self) -> Iterable[str]:
        """The names that are in use or wanted here."""
        return (*self._holders, *self._hashed)

    def put(self, origin: Origin) -> None:
        """Take an origin in; once is enough."""
        if origin in self.names:
            return
        plain = origin.plain_name()
        self._touched.add(plain)
        self.enter(origin, plain)

    def enter(self, origin: Origin, plain: str) -> None:
        """Take an origin in that has its plain name already."""
        if origin in self.names:
            return
        if self._holders.setdefault(plain, origin) != origin:
            self._rivals.setdefault(plain, []).append(origin)
        self.names[origin] = plain

    def drop(self, origin: Origin) -> None:
        """Let an origin go."""
        name = self.names.pop(origin, None)
        if name is None:
            return
        plain = origin.plain_name()
        self._take_out(origin, plain)
        self._touched.add(plain)
        if name != plain:
            self._release(name)

    def leave(self, origin: Origin, plain: str) -> None:
        """Know an origin no longer that has its plain name, and keeps it."""
        del self.names[origin]
        self._take_out(origin, plain)

    def settle(self) -> Mapping[Origin, str]:
        """Give everyone the name that is due now; those whose name is another one, with it."""
        before: dict[Origin, str] = {}
        while self._touched:
            plain = self._touched.pop()
            self._wanted(plain)
            is_hashed = plain in self._rivals or plain in self._hashed
            for origin in self._all_with(plain):
                due = origin.hashed_name() if is_hashed else plain
                if self.names[origin] != due:
                    before.setdefault(origin, self.names[origin])
                    self._rename(origin, plain, due)
        return {each: self.names[each] for each, old in before.items() if self.names[each] != old}

    def _all_with(self, plain: str) -> tuple[Origin, ...]:
        """The origins that have this plain name: mostly one, so that there is no list of it."""
        holder = self._holders.get(plain)
        return () if holder is None else (holder, *self._rivals.get(plain, ()))

    def _take_out(self, origin: Origin, plain: str) -> None:
        left = [each for each in self._all_with(plain) if each != origin]
        self._holders.pop(plain)
        self._rivals.pop(plain, None)
        if left:
            self._holders[plain], *rivals = left
            if rivals:
                self._rivals[plain] = rivals

    def _rename(self, origin: Origin, plain: str, name: str) -> None:
        old, self.names[origin] = self.names[origin], name
        if old != plain:
            self._release(old)
        if name != plain:
            self._hashed[name] = self._hashed.get(name, 0) + 1
            self._touched.add(name)

    def _release(self, hashed: str) -> None:
        self._hashed[hashed] -= 1
        if not self._hashed[hashed]:
            del self._hashed[hashed]
        self._touched.add(hashed)
