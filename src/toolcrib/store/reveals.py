"""What each conversation has revealed, and how long it is: one row a session, of a bounded number.

`used` is a number that grows with every use. The session with the smallest was used longest ago,
and is the first to go.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import apsw

from toolcrib.model import ConversationTokens
from toolcrib.store.protocol import RevealStore

MOST_SESSIONS = 4_096
FRESH = MOST_SESSIONS // 4
"""So many uses behind the newest a session is marked again when it is read. Not each time: a read
does not wait for whoever writes."""


class RevealRow(NamedTuple):
    """What is kept of a session."""

    names: tuple[str, ...]
    is_fresh: bool
    tokens: ConversationTokens = ConversationTokens()


class StoredReveals:
    """The reveals of one session of one caller: as long as the store lasts."""

    def __init__(self, store: RevealStore, caller: str, session: str) -> None:
        self._store = store
        self._of = caller, session

    def names(self) -> tuple[str, ...]:
        """All of them, in the order of their first reveal."""
        return self._store.reveals(*self._of)

    def add(self, names: Iterable[str]) -> tuple[str, ...]:
        """Put these behind the others, each once; returns those that are new."""
        revealed = self.names()
        new = [name for name in dict.fromkeys(names) if name not in revealed]
        return self._store.add_reveals(*self._of, new) if new else ()

    def keep(self, names: Collection[str]) -> None:
        """Forget all but these; those that stay keep their order."""
        self._store.keep_reveals(*self._of, names)

    def tokens(self) -> ConversationTokens:
        """How long the conversation is."""
        return self._store.conversation_tokens(*self._of)

    def set_tokens(self, tokens: ConversationTokens) -> None:
        """Remember how long it is."""
        self._store.set_conversation_tokens(*self._of, tokens)


def read(db: apsw.Connection, caller: str, session: str) -> RevealRow:
    """What a session has revealed; one that is not known has revealed nothing."""
    sql = (
        "SELECT names, used > (SELECT max(used) FROM reveals) - ?, tokens, listed"
        " FROM reveals WHERE caller = ? AND session = ?"
    )
    for names, is_fresh, tokens, listed in db.execute(sql, (FRESH, caller, session)):
        length = ConversationTokens(int(tokens), listed)
        return RevealRow(tuple(json.loads(names)), bool(is_fresh), length)
    return RevealRow((), is_fresh=True)


def write(
    db: apsw.Connection,
    caller: str,
    session: str,
    names: Sequence[str],
    tokens: ConversationTokens,
) -> None:
    """Keep these as the newest; let the oldest go where there are too many."""
    db.execute(
        "INSERT OR REPLACE INTO reveals (caller, session, names, tokens, listed, used) VALUES"
        " (?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM reveals))",
        (caller, session, json.dumps(names), *tokens),
    )
    db.execute(
        "DELETE FROM reveals WHERE used IN"
        " (SELECT used FROM reveals ORDER BY used DESC LIMIT -1 OFFSET ?)",
        (MOST_SESSIONS,),
    )


def forget(db: apsw.Connection, caller: str, session: str) -> None:
    """Keep nothing of a session."""
    db.execute("DELETE FROM reveals WHERE caller = ? AND session = ?", (caller, session))
