"""What a change of the pool comes to: the next table, the news of it, and another fingerprint."""

from collections.abc import Mapping
from typing import NamedTuple

from toolcrib.model import Entry
from toolcrib.pool.entries import entry_print
from toolcrib.pool.entry_table import EntryTable
from toolcrib.pool.events import ToolsUpdated
from toolcrib.pool.stored_sources import StoredChange


class Settlement(NamedTuple):
    """The table after a change, and what is new in it."""

    entries: EntryTable
    news: ToolsUpdated


def news_of(
    before: EntryTable, changes: Mapping[str, Entry | None], stored: StoredChange
) -> ToolsUpdated:
    """What was added, changed and removed."""
    pairs = [(before.get(name), entry) for name, entry in changes.items()]
    added = tuple(entry for old, entry in pairs if entry and old is None)
    changed = tuple(entry for old, entry in pairs if entry and old is not None and old != entry)
    removed = tuple(old for old, entry in pairs if entry is None and old is not None)
    left = tuple(each for name, each in stored.removed.items() if name not in changes)
    return ToolsUpdated(
        (*added, *stored.added) if added or not stored.added else stored.added,
        (*changed, *stored.changed),
        (*removed, *left),
    )


def print_difference(
    before: EntryTable, changes: Mapping[str, Entry | None], stored: StoredChange
) -> int:
    """By how much the fingerprint is another one."""
    difference = stored.print
    for name, entry in changes.items():
        old = None if name in stored.removed else before.get(name)
        if old and not (entry and entry.content == old.content):
            difference -= entry_print(name, old.content)
        if entry and not (old and entry.content == old.content):
            difference += entry_print(name, entry.content)
    return difference
