"""The pool's entries as documents in an engine, kept in step with them."""

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed import BUNDLED_MODEL as BUNDLED
from toolcrib.embed import CachedEmbedder
from toolcrib.errors import EmbedError, StoreError, ToolcribError
from toolcrib.index.document import Document, document_of, embedded_text
from toolcrib.index.late_interaction import late_interaction
from toolcrib.index.protocol import Engine, PackedEngine, Progress, Superseded, View
from toolcrib.index.worker import BackgroundWorker
from toolcrib.model import Entry, Variant

_log = logging.getLogger(__name__)

CHUNK = 16
"""How many texts are embedded at a time in the background: closing waits for one chunk at most."""
DOCUMENTS = 512
"""How many documents are made at a time: what an engine has taken in need not be kept."""

NO_VECTORS, LOOKS_ONCE = "searching by words alone", "searching without a second look"
"""What a failure costs, in a warning."""

UNREADY = " without vectors"
"""What the mark of an index ends with whose vectors are still to come."""

VectorsById = Mapping[str, NDArray[np.float32]]


class Catalog:
    """An engine and the embedder that gives its documents and queries their vectors.

    Documents are indexed with the vectors that are cached, or without. With `in_background` a
    thread makes the missing ones, and all documents get theirs at once when the last is made; the
    other arms answer meanwhile. Else they are made before a rebuild or a change returns. An
    embedder that fails costs the vector arm and nothing else: `warn` is told once, until the
    embedder works again. Documents without vectors then get them with the next change or rebuild.
    `ready` is called on that thread when all that was missing is there.
    """

    def __init__(
        self,
        engine: Engine,
        embedder: CachedEmbedder | None,
        *,
        in_background: bool = False,
        warn: Callable[[str], None] = _log.warning,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._in_background = in_background
        self._warn = warn
        self._tell_ready = ready
        self._failing: set[str] = set()
        self._writing = RLock()
        self._fingerprint = ""
        self._own_mark: str | None = None
        self._pending: dict[str, Entry] = {}
        self._made: dict[str, NDArray[np.float32]] = {}
        self._worker = BackgroundWorker(self._embed_some, name="toolcrib-vectors")

    @contextmanager
    def view(self) -> Generator[View]:
        """What one search sees.

        Raises `Superseded` if another process has replaced the entries that we indexed or adopted.
        """
        with self._engine.view() as view:
            if self._holds(view):
                yield view
                return
        with ExitStack() as stack:
            with self._writing:  # we may be about to write the mark of our own change
                view = stack.enter_context(self._engine.view())
                if not self._holds(view):
                    raise Superseded
            yield view

    def has(self, fingerprint: str) -> bool:
        """Whether the index was made from the entries of this fingerprint, by this model."""
        return self._engine.mark() == self._mark(fingerprint)

    def adopt(self, fingerprint: str) -> bool:
        """Take over the index that is there, if it `has` these entries; whether it does."""
        with self._writing:
            if not self.has(fingerprint):
                return False
            self._fingerprint, self._own_mark = fingerprint, self._mark(fingerprint)
            return True

    def open_pack(
        self, path: Path, key: bytes, fingerprint: str, entries: Mapping[str, Entry]
    ) -> bool:
        """Take over the index in a file, if it was made from these entries; whether it was.

        Vectors that it lacks are made in the background, for those that are still in `entries`.
        Raises `OSError` and `PackDamaged`; `TypeError` if the engine has no such file.
        """
        mark = self._mark(fingerprint)
        with self._writing:
            if not _packed(self._engine).open_pack(path, key, [mark, mark + UNREADY]):
                return False
            self._fingerprint, self._own_mark = fingerprint, self._engine.mark()
            lacking = self._lacking() if self._own_mark != mark else ()
            self._pending = {id: entries[id] for id in lacking if id in entries}
        self._wake()
        return True

    def write_pack(self, path: Path, key: bytes) -> str:
        """Write the index to a file and go over to it; the mark of what is in it.

        Raises `OSError`; `TypeError` if the engine has no such file.
        """
        return _packed(self._engine).write_pack(path, key)

    @property
    def mark(self) -> str:
        """What the index is made from now: entries, model, and whether vectors are to come."""
        return self._engine.mark()

    def rebuild(
        self,
        entries: Iterable[Entry],
        fingerprint: str,
        *,
        embedding: Callable[[int, int], None] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Index all entries anew. `embedding` is told of vectors done, `progress` of rows.

        With `embedding`, it waits for the vectors.
        """
        with self._writing:
            self._fingerprint = fingerprint
            self._pending, self._made = {}, {}
            documents = _of_one_size(self._documents(entries), 0, self._failed)
            self._own_mark = self._mark(fingerprint) + (UNREADY if self._embedder else "")
            self._engine.rebuild(documents, progress=progress, mark=self._own_mark)
            if embedding or not self._in_background:
                self._embed_all(embedding)
            self._remark()
        self._wake()

    def change(self, put: Iterable[Entry], remove: Iterable[str], fingerprint: str) -> None:
        """Index what changed; the fingerprint is of all entries after it. Raises `Superseded`."""
        gone = list(remove)
        with self._writing:
            self._fingerprint = fingerprint
            self._forget(gone)
            with self._engine.view() as view:
                there = view.vector_size
            documents = list(_of_one_size(self._documents(put), there, self._failed))
            mark = self._current_mark()
            self._engine.change(documents, gone, mark=mark, base=self._own_mark)
            self._own_mark = mark
            if not self._in_background:
                self._embed_all()
        self._wake()

    def with_vectors(
        self, variants: Sequence[Variant], *, closely: bool = False, size: int | None = None
    ) -> Sequence[Variant]:
        """The variants with vectors, all embedded at once; as they are if that is not possible.

        While any document has no vector yet, none is used: that document would come last. `closely`
        they are read as documents are. `size` is that of the vectors they are compared with: 0 if
        there are none, None if it is not known.
        """
        if self._embedder is None or self._is_waiting or size == 0:
            return variants
        try:
            texts = [variant.text for variant in variants]
            vectors = self._embedder.embed_queries(texts, closely=closely)
            _check_size(vectors.shape[1], size)
        except (EmbedError, StoreError) as error:
            self._failed(error)
            return variants
        self._failing.discard(NO_VECTORS)
        pairs = zip(variants, vectors.tolist(), strict=True)
        return [replace(variant, vector=vector) for variant, vector in pairs]

    def look(
        self, text: str, entries: Sequence[Entry], *, closely: bool = False
    ) -> Mapping[str, float]:
        """How well each entry answers every word of a text, by name; see `late_interaction`.

        Empty where words cannot be told apart; an entry that was not embedded is left out. With
        `closely` the text is read as entries are.
        """
        embedder = self._embedder
        if embedder is None or not self.reads_words or self._is_waiting:
            return {}
        with self._engine.view() as view:
            hashes = view.text_hashes(entry.name for entry in entries)
        try:
            query = embedder.read(text, closely=closely)
            tokens = embedder.tokens_by_hash([*hashes.values()])
        except (EmbedError, StoreError) as error:
            self._failed(error, LOOKS_ONCE)
            return {}
        self._failing.discard(LOOKS_ONCE)
        if query is None or not len(query.tokens):
            return {}
        having = {name: tokens[each] for name, each in hashes.items() if len(tokens.get(each, ()))}
        looks = late_interaction(query, list(having.values()))
        return dict(zip(having, looks, strict=True))

    def cached_vectors(self, entries: Sequence[Entry]) -> VectorsById:
        """The vectors of these that are cached, by name; nothing is embedded for it."""
        texts = {each.name: embedded_text(each.given, bare=each.bare) for each in entries}
        by_text = self._cached(texts.values())
        return {name: by_text[text] for name, text in texts.items() if text in by_text}

    @property
    def reads_words(self) -> bool:
        """Whether `look` can tell anything: the embedder tells words apart."""
        return self._embedder is not None and self._embedder.reads_words

    @property
    def calibrated_cosines(self) -> bool:
        """Whether the vectors are of the bundled model, to whose cosines the chance was fitted."""
        return bool(self._embedder) and self._embedder.model.startswith(BUNDLED)

    def embedded(self, timeout_s: float | None = None) -> bool:
        """Wait until every document has its vector; False if time was up or embedding failed."""
        return self._worker.wait(timeout_s) and not self._is_waiting

    def close(self) -> None:
        """End the thread in the background; the vectors that it has made are cached."""
        self._worker.close()

    @property
    def _is_waiting(self) -> bool:
        """Whether vectors are still to come that are made in the background."""
        return self._in_background and bool(self._pending or self._made)

    def _lacking(self) -> Sequence[str]:
        with self._engine.view() as view:
            return view.without_vector()

    def _documents(self, entries: Iterable[Entry]) -> Iterator[Document]:
        """The documents with the vectors that are cached; who has none is pending from then on."""
        rest = iter(entries)
        while some := list(islice(rest, DOCUMENTS)):
            documents = [document_of(each.given, id=each.name, bare=each.bare) for each in some]
            cached = self._cached(document.text for document in documents)
            for entry, document in zip(some, documents, strict=True):
                vector = cached.get(document.text)
                self._forget([document.id])
                if vector is None and self._embedder:
                    self._pending[document.id] = entry
                yield replace(document, vector=vector)

    def _cached(self, texts: Iterable[str]) -> VectorsById:
        """The vectors that are cached, by text."""
        if self._embedder is None:
            return {}
        try:
            return self._embedder.cached(list(texts))
        except (EmbedError, StoreError) as error:
            self._failed(error)
            return {}

    def _forget(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._pending.pop(id, None)
            self._made.pop(id, None)

    def _wake(self) -> None:
        if self._is_waiting:
            self._worker.wake()

    def _embed_some(self) -> bool:
        """Make a chunk of vectors, or index all of them when the last is made."""
        with self._writing:
            chunk = dict(islice(self._pending.items(), CHUNK))
            if not chunk:
                self._index_made()
        if not chunk:
            self._tell_ready()
            return False
        try:
            vectors = self._embed(chunk)
        except (EmbedError, StoreError) as error:
            self._failed(error)
            return False
        self._failing.discard(NO_VECTORS)
        with self._writing:
            for id, entry in chunk.items():
                if self._pending.get(id) is entry:  # else it was changed meanwhile
                    del self._pending[id]
                    self._made[id] = vectors[id]
        return True

    def _embed_all(self, embedding: Callable[[int, int], None] | None = None) -> None:
        """Make all vectors that are pending, and index them."""
        pending, ready = dict(self._pending), self._ready() if embedding else 0
        heard = embedding or _ignore_progress
        heard(ready, ready + len(pending))
        try:
            made = self._embed(pending, lambda done, of: heard(ready + done, ready + of))
        except (EmbedError, StoreError) as error:
            self._failed(error)
            return
        self._failing.discard(NO_VECTORS)
        self._pending, self._made = {}, {**self._made, **made}
        self._index_made()

    def _ready(self) -> int:
        """How many documents have a vector."""
        with self._engine.view() as view:
            return view.count - len(view.without_vector())

    def _embed(
        self,
        entries: Mapping[str, Entry],
        progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> VectorsById:
        if self._embedder is None or not entries:
            return {}
        texts = [embedded_text(each.given, bare=each.bare) for each in entries.values()]
        vectors = self._embedder.embed(texts, progress=progress)
        return dict(zip(entries, vectors, strict=True))

    def _index_made(self) -> None:
        """Give the documents the vectors that were made for them."""
        made, self._made = self._made, {}
        if not made:
            return
        mark = self._current_mark()
        try:
            self._check_sizes(made)
            with suppress(Superseded):  # the next view finds out
                self._engine.add_vectors(made, mark=mark, base=self._own_mark)
                self._own_mark = mark
        except EmbedError as error:
            self._failed(error)

    def _check_sizes(self, made: VectorsById) -> None:
        with self._engine.view() as view:
            there = view.vector_size or None
        for size in {vector.size for vector in made.values()}:
            _check_size(size, there)

    def _failed(self, error: ToolcribError, lost: str = NO_VECTORS) -> None:
        """Say what is lost, once until it is there again."""
        if lost not in self._failing:
            self._failing.add(lost)
            self._warn(f"{lost}: {error}")

    def _holds(self, view: View) -> bool:
        """Whether a view is of the entries that we indexed or adopted, with or without vectors."""
        return self._own_mark is None or _entries(view.mark) == _entries(self._own_mark)

    def _remark(self) -> None:
        """Say whether the vectors of an index that was built just now are there."""
        mark = self._current_mark()
        if mark != self._own_mark:
            with suppress(Superseded):
                self._engine.change(mark=mark, base=self._own_mark)
                self._own_mark = mark

    def _current_mark(self) -> str:
        """The mark of the index as it is now: it tells whether vectors are pending."""
        return self._mark(self._fingerprint) + (UNREADY if self._pending else "")

    def _mark(self, fingerprint: str) -> str:
        return f"{fingerprint} {self._embedder.model if self._embedder else 'none'}"


def _packed(engine: Engine) -> PackedEngine:
    if not isinstance(engine, PackedEngine):
        raise TypeError(f"{type(engine).__name__} keeps no file that is mapped at the start")
    return engine


def _of_one_size(
    documents: Iterable[Document], size: int, failed: Callable[[ToolcribError], None]
) -> Iterator[Document]:
    """The documents; those whose vectors have another size than the first lose them."""
    for document in documents:
        if document.vector is None:
            yield document
            continue
        size = size or document.vector.size
        try:
            _check_size(document.vector.size, size)
            yield document
        except EmbedError as error:
            failed(error)
            yield replace(document, vector=None)


def _check_size(size: int, expected: int | None) -> None:
    """Raises `EmbedError` for vectors that cannot be compared with those that are there."""
    if expected is not None and size != expected:
        raise EmbedError(
            f"its vectors have {size} numbers now, and those of the tools {expected}: the model "
            "has changed under its name; give it another name, or index anew"
        )


def _entries(mark: str) -> str:
    """The mark without its remark on vectors."""
    return mark.removesuffix(UNREADY)


def _ignore_progress(_done: int, _all: int) -> None:
    """Progress that nobody listens to."""
