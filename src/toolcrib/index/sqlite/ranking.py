"""From a statement that gives scores to a ranking."""

import json
from collections.abc import Collection

from toolcrib.index.sqlite.tables import Bindings, Tables
from toolcrib.model import Match, Ranking

_RANKED = """
WITH scored(doc, score) AS MATERIALIZED ({scored})
SELECT id, score FROM scored CROSS JOIN doc_N USING (doc)
WHERE score > 0 AND id NOT IN (SELECT value FROM json_each(?))
ORDER BY score DESC, id LIMIT ?
"""
_NO_LIMIT = -1


def ranking(
    tables: Tables,
    scored: str,
    bindings: Bindings,
    *,
    limit: int | None,
    exclude: Collection[str],
) -> Ranking:
    """What scores above zero, best first, ties by id. `scored` selects `doc` and `score`."""
    most = _NO_LIMIT if limit is None else limit
    sql = _RANKED.replace("{scored}", scored)
    found = tables.run(sql, (*bindings, json.dumps(list(exclude)), most)).fetchall()
    return [Match(id, score) for id, score in found]
