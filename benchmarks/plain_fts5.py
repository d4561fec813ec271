"""The baseline: one SQLite FTS5 table over name, description and parameters, asked once.

What anyone would write in an afternoon: the tokeniser as it comes, the query as an OR of all its
words, `ORDER BY bm25`. No stop words, no stems, no weights, no names.
Only Chinese, Japanese and Korean runs are cut into pairs of characters on both sides: FTS5 takes a
whole run for one word, and would find nothing in those languages.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import apsw

from toolcrib.evaluate.cases import EvalTool
from toolcrib.model import Json

_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
_WORD = re.compile(r"[^\W_]+")
_LOOKUP = "SELECT rowid FROM tool WHERE tool MATCH ? ORDER BY bm25(tool), rowid LIMIT ?"


class PlainFts5:
    """A table in memory. Ties are in the order in which the tools came."""

    def __init__(self, tools: Mapping[str, EvalTool]) -> None:
        self._ids = list(tools)
        self._db = apsw.Connection(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE tool USING fts5(name, description, parameters)")
        with self._db:
            self._db.executemany("INSERT INTO tool VALUES (?, ?, ?)", map(_row, tools.values()))

    def add(self, tool: EvalTool) -> None:
        """Take one more tool in."""
        self._ids.append(tool.id)
        self._db.execute("INSERT INTO tool VALUES (?, ?, ?)", _row(tool))

    def search(self, text: str, limit: int) -> Sequence[str]:
        """The ids of the best, best first."""
        words = [f'"{word}"' for word in _WORD.findall(_spaced(text))]
        if not words:
            return []
        rows = self._db.execute(_LOOKUP, (" OR ".join(words), limit))
        return [self._ids[rowid - 1] for (rowid,) in rows]

    def bytes(self) -> int:
        """The size of the database."""
        return self._db.pragma("page_count") * self._db.pragma("page_size")


def _row(tool: EvalTool) -> tuple[str, ...]:
    parameters = " ".join(schema_words(tool.parameters or {}))
    return tuple(map(_spaced, (tool.name, tool.description or "", parameters)))


def schema_words(schema: Json) -> Iterator[str]:
    """The names and descriptions of all parameters in a JSON Schema, nested ones too."""
    if not isinstance(schema, Mapping):
        return
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        for name, inner in properties.items():
            yield name
            if isinstance(inner, Mapping) and isinstance(text := inner.get("description"), str):
                yield text
            yield from schema_words(inner)
    yield from schema_words(schema.get("items"))


def _spaced(text: str) -> str:
    return _CJK.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text)


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(max(len(run) - 1, 1))]
