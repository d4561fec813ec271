"""One window a guest, made when it is first needed."""

from collections import OrderedDict
from threading import Lock

from toolcrib.crib import Crib
from toolcrib.gateway.guest import Guest
from toolcrib.gateway.window import Window

MOST_WINDOWS = 256


class Windows:
    """The windows of a crib. Of too many, the one used longest ago makes room.

    Who is still connected to one that had to go is served on, but is told of no change, and their
    sets are gone.
    """

    def __init__(self, crib: Crib) -> None:
        self._crib = crib
        self._windows: OrderedDict[Guest, Window] = OrderedDict()
        self._changing = Lock()

    def of(self, guest: Guest) -> Window:
        """The window of a guest: the same as long as it is kept."""
        with self._changing:
            window = self._windows.get(guest)
            if window is None:
                window = self._windows[guest] = Window(self._crib, guest)
            self._windows.move_to_end(guest)
            while len(self._windows) > MOST_WINDOWS:
                self._windows.popitem(last=False)[1].close()
            return window

    def close(self) -> None:
        """Close them all."""
        with self._changing:
            for window in self._windows.values():
                window.close()
            self._windows.clear()
