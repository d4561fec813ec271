"""What the arms in SQLite share: texts that can be bound, and scores made into a ranking."""

import json
from collections.abc import Iterable

from toolcrib.index.sqlite.tables import Bindings, Tables
from toolcrib.model import Match, NameFilter, Ranking

_RANKED = """
WITH scored(doc, score) AS MATERIALIZED ({scored})
SELECT id, score FROM scored CROSS JOIN doc_N USING (doc)
WHERE score > 0 AND (id IN (SELECT value FROM json_each(?))) = ?
ORDER BY score DESC, id LIMIT ?
"""
_NO_LIMIT = -1


def storable(texts: Iterable[str]) -> list[str]:
    """Each of the texts once, in order, without those that no row can hold.

    SQLite ends a text at NUL, and half a surrogate pair is no UTF-8. The tokeniser makes neither.
    """
    return [text for text in dict.fromkeys(texts) if "\0" not in text and _is_utf8(text)]


def rank_scored(
    tables: Tables,
    scored: str,
    bindings: Bindings,
    *,
    limit: int | None,
    exclude: NameFilter,
) -> Ranking:
    """What scores above zero, best first, ties by id. `scored` selects `doc` and `score`."""
    most = _NO_LIMIT if limit is None else limit
    sql = _RANKED.replace("{scored}", scored)
    excluding = json.dumps(list(exclude.names)), exclude.inverted
    found = tables.run(sql, (*bindings, *excluding, most)).fetchall()
    return [Match(id, score) for id, score in found]


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
