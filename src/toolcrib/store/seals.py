"""The seals of the decisions: that none was altered, taken away or put back by another hand.

    the rows of a source → its seal → the seal of the whole, with a count → the count, in a file

Whoever alters a row, its name included, or takes one away, breaks the seal of that source; who
touches the seals, or puts an older copy in place, breaks the whole. The count is noted outside
after what it counts is written, and never before: a crash in between leaves it behind, never ahead.

`sealed_rows` checks the rows of a source whenever it reads them.
"""

import hashlib
import hmac
import os
import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import get_ident
from typing import Any, NamedTuple

import apsw

from toolcrib.errors import SourceError
from toolcrib.store.database import transaction
from toolcrib.strict_json import canonical_json
from toolcrib.system import create_private_file, make_private_folder, read_private_file

LONGEST_COUNTER = 256
KEY_BYTES = 32


class SealCounter:
    """The last count of a sealed file, in a small file beside it, sealed by the same key.

    It only ever says a higher number than before: whoever puts an older copy back is found out.
    """

    def __init__(self, path: Path, key: bytes) -> None:
        self.path = path
        self._key = key

    def read(self) -> int | None:
        """The number; None if there is no file. Raises `ValueError` for one that is not ours."""
        try:
            with self.path.open("rb") as file:
                content = file.read(LONGEST_COUNTER)
        except FileNotFoundError:
            return None
        number, _, _ = content.partition(b" ")
        if not number.isdigit() or not hmac.compare_digest(content, self._sealed(int(number))):
            raise ValueError(f"{self.path} was altered")
        return int(number)

    def write(self, number: int) -> None:
        """Put the number in place of the last one, in one step. Raises `OSError`."""
        temporary = self.path.with_name(f".{self.path.name}.{get_ident()}.{os.getpid()}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(self._sealed(number))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)

    def _sealed(self, number: int) -> bytes:
        mac = hashlib.blake2b(b"counter %d" % number, key=self._key).hexdigest()
        return b"%d %s\n" % (number, mac.encode())


class SealedSources(NamedTuple):
    """The seals of all sources, as the whole was in one version of the file.

    `problem` says what is wrong with the whole: then nothing of it counts. `used` is when somebody
    last had a source. Both are in the order of the sources, and seals are in hexadecimal digits:
    there may be thousands, of which one is asked for.
    """

    problem: str
    first_sight: bool
    seals: Mapping[str, str]
    used: Mapping[str, float]
    sources: Sequence[str]

    def seal_of(self, source: str) -> bytes | None:
        """The seal of a source; None if it is not known."""
        seal = self.seals.get(source)
        return None if seal is None else bytes.fromhex(seal)

    def others(self, source: str) -> Sequence[str]:
        """The same server as it is, or was, configured otherwise."""
        return [each for each in self._of_server(server_of(source)) if each != source]

    def mark(self, source: str) -> str:
        """The same as long as nothing else was decided about this server; empty if in doubt."""
        if self.problem:
            return ""
        every = sorted({source, *self._of_server(server_of(source))})
        seals = [(each, self.seals[each].lower()) for each in every if each in self.seals]
        return repr((self.first_sight, seals))

    def _of_server(self, server: str) -> Sequence[str]:
        """The sources of a server, however it is configured; none where nothing says which."""
        if not server:
            return []
        start, end = (bisect_left(self.sources, server + sign) for sign in ("#", "$"))  # neighbours
        return [each for each in self.sources[start:end] if server_of(each) == server]


def server_of(source: str) -> str:
    """The server of a source, however it is configured; empty where nothing says how."""
    return source.rpartition("#")[0]


class Seals:
    """Over the tables `source` and `whole` of a file, by a key."""

    def __init__(self, path: Path, key: bytes) -> None:
        self._path = path
        self._key = key
        self._counter = SealCounter(path.with_suffix(".counter"), key)

    @property
    def was_counted(self) -> bool:
        """Whether a file here was sealed once."""
        return self._counter.path.exists()

    def begin(self, db: apsw.Connection, *, first_sight: bool) -> None:
        """Put a whole in place of the one that was there, to be sealed."""
        db.execute("DELETE FROM whole")
        db.execute("INSERT INTO whole VALUES (0, ?, NULL)", (first_sight,))

    def seal(self, db: apsw.Connection, source: str, rows: Sequence[object]) -> None:
        """Seal a source that has these rows; it is known from then on."""
        sql = "INSERT INTO source VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET seal = excluded.seal"
        db.execute(sql, (source, time.time(), self._mac([source, *rows])))

    def seal_whole(self, db: apsw.Connection) -> None:
        """Seal all there is, and count one on."""
        count, first_sight = db.execute("SELECT count, first_sight FROM whole").get
        try:
            outside = self._counter.read() or 0
        except ValueError:
            outside = 0
        count = max(outside, count) + 1
        seal = self._mac([count, first_sight, *_seals(db)])
        db.execute("UPDATE whole SET count = ?, seal = ?", (count, seal))

    def note_count(self, db: apsw.Connection) -> None:
        """Note the count outside, in a transaction of its own, so that it never goes back."""
        with transaction(db):
            self._counter.write(db.execute("SELECT count FROM whole").get)

    def version(self) -> object:
        """Another one whenever the count outside may be another."""
        try:
            status = self._counter.path.stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def broken_at(self, source: str, seal: object, rows: Sequence[object]) -> str:
        """What is wrong with the seal of a source that has these rows; nothing if it is whole."""
        if (seal is None and not rows) or self._is_sealed(seal, [source, *rows]):
            return ""
        whose = source.partition(":")[2].rpartition("#")[0] or source
        return self._problem(f"the decisions about {whose!r} were altered, or some are missing")

    def read(self, db: apsw.Connection) -> SealedSources:
        """The seals as they are now, and what is wrong with the whole."""
        name = self._counter.path.name
        try:
            outside = self._counter.read()  # first: it is never ahead of the file
        except ValueError:
            return _nothing_sealed(self._problem(f"{name} was altered"))
        whole = db.execute("SELECT count, first_sight, seal FROM whole").fetchall()
        every = _seals(db)
        altered = self._problem("decisions were altered, or some are missing")
        if len(whole) != 1:
            return _nothing_sealed(altered)
        ((count, first_sight, seal),) = whole
        if not self._is_sealed(seal, [count, first_sight, *every]):
            return _nothing_sealed(altered)
        if outside is None and count > 1:  # at 1, the first start may have been cut short
            return _nothing_sealed(self._problem(f"{name} is missing"))
        if outside is not None and count < outside:
            return _nothing_sealed(self._problem("an older copy was put in place"))
        return _sealed_sources(every, first_sight=bool(first_sight))

    def _problem(self, what: str) -> str:
        rest = "so they approve nothing; look at each tool again: `toolcrib review`"
        return f"{self._path}: {what}, {rest}"

    def _is_sealed(self, seal: object, values: Iterable[object]) -> bool:
        try:
            return isinstance(seal, bytes) and hmac.compare_digest(seal, self._mac(values))
        except TypeError:  # something that no row of ours has
            return False

    def _mac(self, values: Iterable[object]) -> bytes:
        return hashlib.blake2b(canonical_json(list(values)).encode(), key=self._key).digest()


def _seals(db: apsw.Connection) -> list[list[Any]]:
    rows = db.execute("SELECT id, used, hex(seal) FROM source ORDER BY id").fetchall()
    return [list(row) for row in rows]


def _nothing_sealed(problem: str) -> SealedSources:
    return SealedSources(problem, first_sight=False, seals={}, used={}, sources=())


def _sealed_sources(rows: Sequence[Sequence[Any]], *, first_sight: bool) -> SealedSources:
    seals = {id: seal for id, _, seal in rows}
    used = {id: at for id, at, _ in rows}
    return SealedSources("", first_sight, seals, used, list(seals))


def install_key(path: Path) -> bytes:
    """The secret of this installation, made at first need. Raises `SourceError`."""
    try:
        if not path.exists():
            make_private_folder(path.parent)
            create_private_file(path, os.urandom(KEY_BYTES))
        key = read_private_file(path, KEY_BYTES)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}; make it readable for you") from error
    if len(key) != KEY_BYTES:
        raise SourceError(f"{path}: is not a key of {KEY_BYTES} bytes; remove it to get a new one")
    return key
