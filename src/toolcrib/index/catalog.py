"""The pool's entries as documents in an engine, kept in step with them."""

import logging
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed import BUNDLED_MODEL as BUNDLED
from toolcrib.embed import CachedEmbedder
from toolcrib.errors import EmbedError, StoreError, ToolcribError
from toolcrib.index.document import Document, document_of, embedded_text
from toolcrib.index.late_interaction import late_interaction
from toolcrib.index.protocol import Engine, Progress, Superseded, View
from toolcrib.index.worker import BackgroundWorker
from toolcrib.model import Entry, Variant

_log = logging.getLogger(__name__)

CHUNK = 16
"""How many texts are embedded at a time in the background: closing waits for one chunk at most."""

NO_VECTORS, LOOKS_ONCE = "searching by words alone", "searching without a second look"
"""What a failure costs, in a warning."""

UNREADY = " without vectors"
"""What the mark of an index ends with whose vectors are still to come."""


class Catalog:
    """An engine and the embedder that gives its documents and queries their vectors.

    With `in_background`, documents whose vectors are not cached are indexed without. A thread makes
    the vectors, and all documents get theirs at once when the last is made; the other arms answer
    meanwhile. An embedder that fails costs the vector arm and nothing else: `warn` is told once,
    until the embedder works again. Documents without vectors then get them with the next change or
    rebuild.
    """

    def __init__(
        self,
        engine: Engine,
        embedder: CachedEmbedder | None,
        *,
        in_background: bool = False,
        warn: Callable[[str], None] = _log.warning,
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._in_background = in_background and embedder is not None
        self._warn = warn
        self._failing: set[str] = set()
        self._writing = RLock()
        self._fingerprint = ""
        self._own_mark: str | None = None
        self._pending: dict[str, Document] = {}
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._worker = BackgroundWorker(self._embed_some, name="toolcrib-vectors")

    @contextmanager
    def view(self) -> Generator[View]:
        """What one search sees.

        Raises `Superseded` if another process has replaced the entries that we indexed or adopted.
        """
        with ExitStack() as stack:
            view = stack.enter_context(self._engine.view())
            if not self._holds(view):
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

    def rebuild(
        self,
        entries: Collection[Entry],
        fingerprint: str,
        *,
        embedding: Callable[[int, int], None] | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Index all entries anew. `embedding` is told of vectors done, `progress` of rows.

        With `embedding`, it waits for the vectors.
        """
        with self._writing:
            documents = self._documents(entries, embedding)
            self._note_pending(documents, (), fingerprint, anew=True)
            mark = self._current_mark()
            self._engine.rebuild(documents, progress=progress, mark=mark)
            self._own_mark = mark
        self._wake()

    def change(self, put: Collection[Entry], remove: Iterable[str], fingerprint: str) -> None:
        """Index what changed; the fingerprint is of all entries after it. Raises `Superseded`."""
        gone = list(remove)
        with self._writing:
            documents = self._documents(put, None)
            self._note_pending(documents, gone, fingerprint, anew=False)
            self._change(documents, gone)
        self._wake()

    def with_vectors(
        self, variants: Sequence[Variant], *, size: int | None = None
    ) -> Sequence[Variant]:
        """The variants with vectors, all embedded at once; as they are if that is not possible.

        While any document has no vector yet, none is used: that document would come last. `size` is
        that of the vectors they are compared with: 0 if there are none, None if it is not known.
        """
        if self._embedder is None or self._pending or size == 0:
            return variants
        try:
            vectors = self._embedder.embed([variant.text for variant in variants], keep=False)
            _check_size(vectors.shape[1], size)
        except (EmbedError, StoreError) as error:
            self._failed(error)
            return variants
        self._failing.discard(NO_VECTORS)
        pairs = zip(variants, vectors.tolist(), strict=True)
        return [replace(variant, vector=vector) for variant, vector in pairs]

    def look(self, text: str, entries: Sequence[Entry]) -> Mapping[str, float]:
        """How well each entry answers every word of a text, by name; see `late_interaction`.

        Empty where words cannot be told apart; an entry that was not embedded is left out.
        """
        embedder = self._embedder
        if embedder is None or not embedder.reads_words or self._pending:
            return {}
        texts = {entry.name: embedded_text(entry.capability, bare=entry.bare) for entry in entries}
        try:
            query, tokens = embedder.read(text), embedder.tokens([*texts.values()])
        except (EmbedError, StoreError) as error:
            self._failed(error, LOOKS_ONCE)
            return {}
        self._failing.discard(LOOKS_ONCE)
        if query is None or not len(query.tokens):
            return {}
        having = {name: tokens[each] for name, each in texts.items() if len(tokens.get(each, ()))}
        looks = late_interaction(query, list(having.values()))
        return dict(zip(having, looks, strict=True))

    @property
    def calibrated_cosines(self) -> bool:
        """Whether the vectors are of the bundled model, to whose cosines the chance was fitted."""
        return bool(self._embedder) and self._embedder.model.startswith(BUNDLED)

    def embedded(self, timeout_s: float | None = None) -> bool:
        """Wait until every document has its vector; False if time was up or embedding failed."""
        return self._worker.wait(timeout_s) and not self._pending

    def close(self) -> None:
        """End the thread in the background; the vectors that it has made are cached."""
        self._worker.close()

    def _documents(
        self, entries: Iterable[Entry], embedding: Callable[[int, int], None] | None
    ) -> Sequence[Document]:
        documents = [document_of(entry.capability, bare=entry.bare) for entry in entries]
        if self._embedder is None:
            return documents
        texts = [each.text for each in documents]
        try:
            if self._in_background and embedding is None:
                return _with(documents, self._embedder.cached(texts))
            vectors = self._embedder.embed(texts, progress=embedding or _ignore_progress)
        except (EmbedError, StoreError) as error:
            self._failed(error)
            return documents
        self._failing.discard(NO_VECTORS)
        return _with(documents, dict(zip(texts, vectors, strict=True)))

    def _note_pending(
        self, documents: Iterable[Document], gone: Iterable[str], fingerprint: str, *, anew: bool
    ) -> None:
        """Remember which documents have no vector yet, and of which fingerprint they are."""
        self._fingerprint = fingerprint
        if anew:
            self._pending = {}
        for id in gone:
            self._pending.pop(id, None)
        for each in documents if self._in_background else ():
            self._pending.pop(each.id, None)
            if each.vector is None:
                self._pending[each.id] = each

    def _wake(self) -> None:
        if self._pending:
            self._worker.wake()

    def _embed_some(self) -> bool:
        """Make a chunk of vectors, or index all documents with theirs when the last is made."""
        with self._writing:
            texts = {each.text for each in self._pending.values()} - self._vectors.keys()
            if not texts:
                self._index_pending()
                return False
        try:
            self._embed_chunk(sorted(texts)[:CHUNK])
        except (EmbedError, StoreError) as error:
            self._failed(error)
            return False
        self._failing.discard(NO_VECTORS)
        return True

    def _embed_chunk(self, texts: Sequence[str]) -> None:
        if self._embedder:
            self._vectors |= zip(texts, self._embedder.embed(texts), strict=True)

    def _index_pending(self) -> None:
        """Index the pending documents again, with their vectors."""
        ready = _with(self._pending.values(), self._vectors)
        self._pending, self._vectors = {}, {}
        if ready:
            with suppress(Superseded):  # the next view finds out
                self._change(ready, ())

    def _change(self, put: Collection[Document], remove: Iterable[str]) -> None:
        mark = self._current_mark()
        self._engine.change(self._of_one_size(put), remove, mark=mark, base=self._own_mark)
        self._own_mark = mark

    def _of_one_size(self, documents: Collection[Document]) -> Collection[Document]:
        """The documents; without their vectors if the index has vectors of another size."""
        with self._engine.view() as view:
            there = view.vector_size
        try:
            for size in {each.vector.size for each in documents if each.vector is not None}:
                _check_size(size, there or None)
        except EmbedError as error:
            self._failed(error)
            return [replace(each, vector=None) for each in documents]
        return documents

    def _failed(self, error: ToolcribError, lost: str = NO_VECTORS) -> None:
        """Say what is lost, once until it is there again."""
        if lost not in self._failing:
            self._failing.add(lost)
            self._warn(f"{lost}: {error}")

    def _holds(self, view: View) -> bool:
        """Whether a view is of the entries that we indexed or adopted, with or without vectors."""
        return self._own_mark is None or _entries(view.mark) == _entries(self._own_mark)

    def _current_mark(self) -> str:
        """The mark of the index as it is now: nobody adopts one whose vectors are pending."""
        return self._mark(self._fingerprint) + (UNREADY if self._pending else "")

    def _mark(self, fingerprint: str) -> str:
        return f"{fingerprint} {self._embedder.model if self._embedder else 'none'}"


def _with(
    documents: Iterable[Document], vectors: Mapping[str, NDArray[np.float32]]
) -> list[Document]:
    """The documents with the vectors of their texts, where there are any."""
    return [replace(each, vector=vectors.get(each.text)) for each in documents]


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
