"""The packs of a crib: where they lie, when they are written, and which are let go.

    pool pack    what the sources list          ┐ two files of one moment,
    index pack   what a search looks up in      ┘ told apart by their endings

Each settings file has a pair of its own, and so has each program that adds its tools in code. So
the daemon and the commands share one, and programs do not overwrite each other's. What is in a pack
is for `toolcrib.pool` and `toolcrib.index` to say, and whether it still fits; a pair that is
missing or does not fit costs time and nothing else.
"""

import atexit
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from random import Random
from threading import Condition, Thread

from toolcrib.settings import Settings
from toolcrib.store import install_key
from toolcrib.system import sweep_temporary_files

FOLDER, KEY_FILE = "packs", "packs.key"
POOL, INDEX = ".pool", ".index"
QUIET_S = 2.0
"""A change is written when nothing else has changed for so long..."""
MOST_S = 60.0
"""...and after about so long at the latest: half of it more or less, by chance. Replicas hear of
the same changes at once, and should not all write at the same moment."""
PAUSE_S = 0.006
"""How long a writer leaves others their turn each time: it works about a quarter of the time."""
FEWEST = 200
"""A pool of fewer entries is not packed: it is made as fast as it is read."""
MOST_PAIRS = 8
MOST_BYTES = 4 << 30
"""So much of the packs that were used last is kept."""


class PackFiles:
    """The two files of one pool. `owner` says whose it is: a settings file, a program.

    `shared_key` is what replicas seal them with; without one, this machine has a key of its own.
    """

    def __init__(self, state_folder: Path, owner: str, shared_key: bytes | None = None) -> None:
        self._folder = state_folder / FOLDER
        self._shared_key = shared_key
        self._name = hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @classmethod
    def of(
        cls, settings: Settings, program: str, shared_key: bytes | None = None
    ) -> "PackFiles | None":
        """The pair of these settings: of the user's, or of a program; None if none is kept."""
        if settings.index == "memory":
            return None
        owner = f"settings {settings.file or ''}" if settings.rules_file else f"program {program}"
        return cls(settings.state_folder, owner, shared_key)

    @property
    def key(self) -> bytes:
        """What packs are sealed with, made at first need. Raises `SourceError`."""
        return self._shared_key or install_key(self._folder / KEY_FILE)

    @property
    def pool(self) -> Path:
        """The file of the pool."""
        return self._folder / f"{self._name}{POOL}"

    @property
    def index(self) -> Path:
        """The file of the index."""
        return self._folder / f"{self._name}{INDEX}"

    def touch(self) -> None:
        """Note that this pair is in use, and is not to be let go before others."""
        for path in (self.pool, self.index):
            with suppress(OSError):
                os.utime(path)

    def sweep(self) -> None:
        """Remove the pairs beyond the last few, and what writers left that were killed."""
        sweep_temporary_files(self._folder)
        for stem in self._beyond():
            if stem != self._name:
                for path in self._folder.glob(f"{stem}.*"):
                    with suppress(OSError):
                        path.unlink()

    def _beyond(self) -> Iterator[str]:
        """The names of the pairs that are too many or too large, those used last left out."""
        used: dict[str, float] = {}
        sizes: dict[str, int] = {}
        for path in self._folder.glob("*.*"):
            if path.name == KEY_FILE:
                continue
            with suppress(OSError):
                stem, stat = path.name.partition(".")[0], path.stat()
                used[stem] = max(used.get(stem, 0.0), stat.st_mtime)
                sizes[stem] = sizes.get(stem, 0) + stat.st_size
        newest = sorted(filter(None, used), key=lambda stem: -used[stem])
        totals = accumulate(sizes[stem] for stem in newest)
        for place, (stem, total) in enumerate(zip(newest, totals, strict=True)):
            if place >= MOST_PAIRS or total > MOST_BYTES:
                yield stem


class QuietWriter:
    """Calls `write` on a thread of its own when nothing has changed for a while, or at the end.

    There is a thread only while something is to be written. `write` raises nothing. When a program
    ends without `close`, what is not written yet is written then.
    """

    def __init__(
        self,
        write: Callable[[], None],
        *,
        quiet_s: float = QUIET_S,
        most_s: float = MOST_S,
    ) -> None:
        self._write = write
        self._quiet_s = quiet_s
        self._most_s = most_s * Random().uniform(0.5, 1.5)  # noqa: S311 - no secret
        self._noted = Condition()
        self._since: float | None = None
        self._last = 0.0
        self._thread: Thread | None = None
        self._closed = False

    def note(self) -> None:
        """Something has changed. Does nothing once closed."""
        with self._noted:
            self._last = time.monotonic()
            if self._since is None:
                self._since = self._last
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="toolcrib-packs", daemon=True)
                atexit.register(self.close)
                self._thread.start()

    def close(self) -> None:
        """Write at once what is not written yet, and end."""
        with self._noted:
            self._closed = True
            self._noted.notify_all()
            thread = self._thread
        if thread:
            thread.join()

    def pause(self) -> None:
        """For `write`, after some work each: leave others their turn. Whoever closes waits not."""
        if not self._closed:
            time.sleep(PAUSE_S)

    def _run(self) -> None:
        while self._wait():
            self._write()
        atexit.unregister(self.close)

    def _wait(self) -> bool:
        """Wait until it is time to write; False if there is nothing to write any more."""
        with self._noted:
            while self._since is not None and not self._closed:
                now = time.monotonic()
                due = min(self._last + self._quiet_s, self._since + self._most_s)
                if now >= due:
                    break
                self._noted.wait(due - now)
            there, self._since = self._since is not None, None
            if not there:
                self._thread = None
            return there
