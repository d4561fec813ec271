"""Waits for changes of files, until their writer is done."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

LOOK_S = 0.25
GONE_S = 1.0
"""A file that is gone may be about to come back: some editors replace one that way."""
RESTLESS_S = 2.0
"""A file that is written all the time is read after so long."""

Stamp: TypeAlias = tuple[int, int, int, int] | None
FileStamps: TypeAlias = Mapping[Path, Stamp]


class FileWatcher:
    """Looks at some files a few times a second, through links.

    `files` gives the paths, and may give others later. A path that is new counts as changed.
    `seen` is how they were at the last `look`.
    """

    def __init__(self, files: Callable[[], Iterable[Path]]) -> None:
        self._files = files
        self.seen: FileStamps = {}

    def look(self) -> None:
        """Remember the files as they are: the caller is about to read them."""
        self.seen = self._stamps()

    def is_current(self) -> bool:
        """Whether the files are as they were at the last `look`."""
        return all(self.seen.get(path, ()) == stamp for path, stamp in self._stamps().items())

    async def changed(self) -> None:
        """Wait until a file is another than at the last `look`, and rests."""
        last, since = self.seen, 0.0
        while True:
            await asyncio.sleep(LOOK_S)
            now = await asyncio.to_thread(self._stamps)
            if all(self.seen.get(path, ()) == stamp for path, stamp in now.items()):
                since = 0.0
            else:
                since = since or time.monotonic()
                waited = time.monotonic() - since
                rests = now == last and (None not in now.values() or waited >= GONE_S)
                if rests or waited >= RESTLESS_S:
                    return
            last = now

    def _stamps(self) -> FileStamps:
        return stamps_of(self._files())


def stamps_of(files: Iterable[Path]) -> FileStamps:
    """How these files are now."""
    return {path: _stamp(path) for path in files}


def _stamp(path: Path) -> Stamp:
    """What tells one content of a file from another; None if there is no file."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns
