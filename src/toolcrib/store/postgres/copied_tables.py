"""The tables that are copied row by row between files and a database, and how on either side.

The columns of a row are the same on both sides, in the same order; what PostgreSQL keeps otherwise
than SQLite is converted in the query.
"""

from typing import Literal, NamedTuple

SqliteFile = Literal["catalog", "events"]


class CopiedTable(NamedTuple):
    """One kind of rows: which file has them, and how they are read, written and removed."""

    kind: str
    file: SqliteFile
    sqlite_read: str
    sqlite_write: str
    sqlite_clear: str
    read: str
    write: str
    clear: str
    is_counted: bool = True


_EVENT = (
    "id, at, kind, caller, client, conversation, name, server, seconds, code, trace, facts, query,"
    " seen"
)
_KEY = "hour, kind, name, server, code, how, count, seconds"

COPIED_TABLES = (
    CopiedTable(
        "events",
        "events",
        f"SELECT {_EVENT} FROM event ORDER BY id",
        f"INSERT INTO event ({_EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "DELETE FROM event",
        f"SELECT {_EVENT} FROM event ORDER BY id",
        f"""
        INSERT INTO event ({_EVENT})
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
        """,
        "DELETE FROM event",
    ),
    CopiedTable(
        "roll-ups",
        "events",
        f"SELECT {_KEY}, buckets, eager, sent, seen FROM rollup ORDER BY 1, 2, 3, 4, 5, 6",
        f"INSERT INTO rollup ({_KEY}, buckets, eager, sent, seen)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "DELETE FROM rollup",
        f"""
        SELECT {_KEY}, to_json(buckets)::text, eager, sent, seen FROM rollup
        ORDER BY hour, kind, name, server, code, how
        """,
        f"""
        INSERT INTO rollup ({_KEY}, buckets, eager, sent, seen)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s,
            ARRAY(SELECT json_array_elements_text(%s::json)::bigint), %s, %s, %s)
        """,
        "DELETE FROM rollup",
    ),
    CopiedTable(
        "pairs",
        "catalog",
        "SELECT before, after, count FROM use_pair ORDER BY id",
        "INSERT INTO use_pair (before, after, count) VALUES (?, ?, ?)",
        "DELETE FROM use_pair",
        "SELECT before, after, count FROM use_pair ORDER BY id",
        "INSERT INTO use_pair (before, after, count) VALUES (%s, %s, %s)",
        "DELETE FROM use_pair",
    ),
    CopiedTable(
        "lessons",
        "catalog",
        "SELECT profile, word, tool, uses, weight, day FROM use_lesson ORDER BY 1, 2, 3",
        "INSERT INTO use_lesson VALUES (?, ?, ?, ?, ?, ?)",
        "DELETE FROM use_lesson",
        """
        SELECT profile, word, tool, uses, weight, day FROM use_lesson ORDER BY profile, word, tool
        """,
        """
        INSERT INTO use_lesson (profile, word, tool, uses, weight, day)
        VALUES (%s, %s, %s, %s, %s, %s)
        """,
        "DELETE FROM use_lesson",
    ),
    CopiedTable(  # with another key the words of queries have other hashes
        "keys of words",
        "catalog",
        "SELECT key FROM use_key",
        "INSERT INTO use_key VALUES (?)",
        "DELETE FROM use_key",
        "SELECT key FROM use_key",
        "INSERT INTO use_key (key) VALUES (%s)",
        "DELETE FROM use_key",
        is_counted=False,
    ),
    CopiedTable(
        "reveals",
        "catalog",
        "SELECT caller, session, names, tokens, listed FROM reveals ORDER BY used",
        """
        INSERT INTO reveals (caller, session, names, tokens, listed, used)
        VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM reveals))
        """,
        "DELETE FROM reveals",
        "SELECT caller, session, names, tokens, listed FROM reveal ORDER BY used",
        """
        INSERT INTO reveal (caller, session, names, tokens, listed) VALUES (%s, %s, %s, %s, %s)
        """,
        "DELETE FROM reveal",
    ),
)
