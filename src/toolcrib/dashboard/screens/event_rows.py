"""Events as rows and steps: what happened, in a few words, each of a bounded size."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import urlencode

import htpy as h

from toolcrib.dashboard.spelling import spelt_short
from toolcrib.model import FINE_CODES, Event, Json

MOST_WORDS = 90
MOST_NAMED = 3
MINUTES_FROM_S = 100.0
TIMED = ("search", "call", "program", "list", "server", "client")
ENDED = {
    "nothing_found": "nothing found",
    "": "ok",
}


def event_row(id: int, event: Event) -> h.Element:
    """One event in a table of them; the whole story is behind its link."""
    return h.tr(class_=_tone(event), data_event=str(id))[
        h.td(".when")[moment(event.at)],
        h.td(".kind")[event.kind],
        h.td(".about")[h.a(href=event_address(id), data_drawer=True)[about(event)], result(event)],
        h.td(".ended")[ended(event)],
        h.td(".took")[took(event)],
        h.td(".by")[spelt_short(event.client or event.caller, 40)],
    ]


def event_table(rows: h.Node, caption: str) -> h.Element:
    """A table of such rows."""
    names = ("Time", "Kind", "What", "Ended", "Took", "By")
    return h.table(".events")[
        h.caption(".unseen")[caption],
        h.thead[h.tr[[h.th(scope="col")[name] for name in names]]],
        h.tbody("#rows")[rows],
    ]


def event_address(id: int) -> str:
    """The page of one event."""
    return f"/event?{urlencode({'id': id})}"


def why_address(query: str) -> str:
    """The page that explains how this query is ranked."""
    return f"/why?{urlencode({'query': query}, errors='replace')}"


def about(event: Event) -> h.Node:
    """What an event is about."""
    facts = event.facts
    match event.kind:
        case "search":
            return ["“", spelt_short(event.query, MOST_WORDS), "”"] if event.query else "a search"
        case "reveal":
            return named(names_of(facts.get("tools")))
        case "list":
            return f"{count(facts.get('tools'))} of {count(facts.get('of'))} tools listed"
        case "program":
            return [f"{count(facts.get('calls'))} calls: ", *named(names_of(facts.get("tools")))]
        case "client":
            name = event.client or "a client"
        case "definition":
            name = f"{event.server}/{event.name}"
        case _:
            name = event.name or event.server
    return spelt_short(name, MOST_WORDS)


def result(event: Event) -> h.Node:
    """What a search found, in a few words."""
    if event.kind != "search" or event.code:
        return None
    hits = len(names_of(event.facts.get("hits")))
    sure, chance = event.facts.get("confidence", ""), event.facts.get("chance")
    likely = f" {chance:.2f}".replace("0.", ".") if isinstance(chance, float | int) else ""
    words = f"{hits} hit{'' if hits == 1 else 's'}, {sure}{likely}"
    return h.small[" ", spelt_short(words, 60)]


def ended(event: Event) -> h.Node:
    """How it ended: the code of an error, or in a word that all is well."""
    return spelt_short(ENDED.get(event.code, event.code), 40)


def took(event: Event) -> str:
    """How long it took, where that is a matter."""
    return duration(event.seconds) if event.kind in TIMED and event.seconds else ""


def duration(seconds: float) -> str:
    """Seconds as a person reads them."""
    if seconds < 1:
        return f"{max(1, round(seconds * 1000))} ms"
    return f"{seconds:.1f} s" if seconds < MINUTES_FROM_S else f"{seconds / 60:.0f} min"


def moment(at: float) -> h.Element:
    """When it was: the time, and before today the day."""
    when, now = _local(at), datetime.now(UTC).astimezone()
    form = "%H:%M:%S" if when.date() == now.date() else "%m-%d %H:%M"
    return h.time(datetime=when.isoformat(timespec="seconds"))[when.strftime(form)]


def _local(at: float) -> datetime:
    try:
        return datetime.fromtimestamp(at, UTC).astimezone()
    except (ValueError, OverflowError, OSError):  # a clock that was far off
        return datetime.fromtimestamp(0, UTC).astimezone()


def named(names: Sequence[str], most: int = MOST_NAMED) -> list[h.Node]:
    """The first of some names, and how many more there are."""
    shown: list[h.Node] = [
        [", " if place else "", spelt_short(name, 60)] for place, name in enumerate(names[:most])
    ]
    more = len(names) - most
    return [*shown, f" and {more} more"] if more > 0 else shown or ["nothing"]


def names_of(value: Json) -> Sequence[str]:
    """The names in a fact; none where it is something else."""
    return [str(each) for each in value] if isinstance(value, list) else ()


def count(value: Json) -> str:
    """A number in a fact."""
    return f"{value:,}" if isinstance(value, int) else "some"


def facts_list(facts: Mapping[str, h.Node]) -> h.Element:
    """Names and values, without those that are empty."""
    pairs: Iterable[tuple[str, h.Node]] = ((name, value) for name, value in facts.items() if value)
    return h.dl(".pairs")[[[h.div[h.dt[name], h.dd[value]]] for name, value in pairs]]


def _tone(event: Event) -> str | None:
    return None if event.code in FINE_CODES else "bad"
