"""The configured servers whose tools cannot be had, and what an answer says about them.

A search finds them by name and purpose (`server_purposes`). A caller hears of a server only if
they may have a tool of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from toolcrib.access import Scope, allows_source, count_unreviewed, why_barred
from toolcrib.crib.server_purposes import ServerPurposes, query_stems, word_stems
from toolcrib.model import Answer, Entry, EntryGroups, ToolInfo, UnavailableServer
from toolcrib.names import Origin
from toolcrib.sources import mcp
from toolcrib.text import Glossary

if TYPE_CHECKING:
    from toolcrib.crib.fleet import Fleet
    from toolcrib.sources.mcp import McpSource

MOST_SERVERS = 3
MOST_NAMED = 5


class UnavailableServers:
    """Those of one fleet. Safe to share between threads."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._purposes = ServerPurposes()

    def mention(
        self, found: Answer, scope: Scope, groups: EntryGroups, glossary: Glossary
    ) -> Answer:
        """The answer, with the servers that its query may be about and whose tools are not here."""
        if not self._fleet.by_name and not self._fleet.broken:
            return found
        matching = self._matching(query_stems(found.query, glossary), groups)
        visible = (why for origin, why in matching if _may_see(scope, origin))
        first = tuple(islice(visible, MOST_SERVERS))
        return replace(found, unavailable=first) if first else found

    def mention_listing(self, found: Answer, scope: Scope) -> Answer:
        """The answer, with which servers of this caller have not listed their tools yet."""
        every = self._fleet.by_name.items() if self._fleet.is_refreshing else ()
        names = [
            name for name, each in every if each.listing and allows_source(each.id or "", scope)
        ]
        if not names:
            return found
        them = f"{len(names)} server{' is' if len(names) == 1 else 's are'} still being listed"
        first = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
        return _with_note(
            found, f"{them} ({first}): search again in a moment if what you need is theirs."
        )

    def reason(self, name: str, scope: Scope) -> str:
        """Why there is no tool of this name, if it spells out such a server; else ""."""
        origins = list(self._origins())
        stems = {each: (*each.spellings().stems, *each.spellings().double) for each in origins}
        named = [each for each in origins if name.startswith(stems[each])]
        if not named:
            return ""
        origin = max(named, key=lambda each: len(each.stem))
        by_origin = {_origin(source): source for source in self._fleet.by_name.values()}
        source = by_origin.get(origin)
        why = source.status().unavailable if source else mcp.unusable_entry(origin.source_id)
        return str(why) if why and _may_see(scope, origin) else ""

    def _origins(self) -> Iterator[Origin]:
        yield from map(_origin, self._fleet.by_name.values())
        yield from (Origin("mcp", each, "") for each in self._fleet.broken)

    def _matching(
        self, stems: frozenset[str], groups: EntryGroups
    ) -> Iterator[tuple[Origin, UnavailableServer]]:
        """Those with a purpose of these stems, whoever has most of them first; without any, all."""
        found: list[tuple[int, str, Origin, UnavailableServer]] = []
        servers = self._fleet.by_name
        by_stem = self._purposes.by_stem(servers, groups)
        fits = Counter(name for stem in stems for name in by_stem.get(stem, ()))
        for name in fits if stems else servers:
            fit, source = fits[name], servers[name]
            why = source.status().unavailable
            if why and why.code != "listing":  # the note of the answer names all of those
                found.append((-fit, name, _origin(source), why))
        for name in self._fleet.broken:
            fit = len(stems & word_stems([name]))
            if fit or not stems:
                found.append((-fit, name, Origin("mcp", name, ""), mcp.unusable_entry(name)))
        return ((origin, why) for _, _, origin, why in sorted(found, key=lambda each: each[:2]))


def mention_unreviewed(found: Answer, scope: Scope, groups: EntryGroups) -> Answer:
    """The answer; where nothing was found, with how many tools nobody has approved yet."""
    waiting = 0 if found.hits else count_unreviewed(groups, scope)
    if not waiting:
        return found
    note = f"Not searched: {waiting} that wait for the operator's review (`toolcrib review`)."
    return _with_note(found, note)


def _with_note(found: Answer, note: str) -> Answer:
    return replace(found, note=f"{found.note}\n{note}".strip())


def _may_see(scope: Scope, origin: Origin) -> bool:
    """Whether a caller may hear of a server: if they may have a tool of it, whichever it is."""
    any_tool = ToolInfo(
        name="any", description="", source="mcp", source_id=origin.source_id, permission_kind="read"
    )
    return not why_barred(Entry(f"{origin.stem}any", "any", any_tool), scope)


def _origin(source: McpSource) -> Origin:
    return Origin("mcp", source.id or source.server, "")
