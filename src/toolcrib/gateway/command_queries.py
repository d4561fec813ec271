"""What commands ask about the pool: of the daemon's crib, or of one of their own.

    toolcrib search ──> a daemon of these settings runs? ──> operator socket ──> its crib ─┐
                    └─> else a crib of the command ────────────────────────────────────────┴> reply

A reply is JSON either way, made here, so that a command says the same with a daemon and without.
For the same reason a tool whose server happens to run is said to be asleep, as it is in the process
of a command: which servers run is told by `toolcrib servers`.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from toolcrib import session
from toolcrib.crib import HOST, Crib, deferral_plan_in, inventory_of, searcher_of
from toolcrib.model import Entry, Hit, Json, JsonObject, Query, State
from toolcrib.pool import remedy
from toolcrib.program import ProgramCheck, ProgramOutcome
from toolcrib.search import ALTERNATIVES, AS_SET
from toolcrib.sources import mcp
from toolcrib.text import token_counter

PATIENCE_S = 30.0
"""How long a search waits for the vectors of what is new."""
OUTSIDE = ("mcp", "sdk")
"""Sources whose tools run in processes of their own."""

OnWait = Callable[[], None]
"""Called before a query waits for vectors."""


def answer_query(crib: Crib, what: str, asked: Mapping[str, Any], on_wait: OnWait) -> JsonObject:
    """The reply to a query: one of `QUERIES` or `WATCHED`. Raises `ToolcribError`."""
    return {**QUERIES, **WATCHED}[what](crib, asked, on_wait)


def await_vectors(crib: Crib, on_wait: OnWait) -> bool:
    """Wait for the vectors of what is new in the catalog; whether all are there."""
    if crib.index.embedded(0):
        return True
    on_wait()
    return crib.index.embedded(PATIENCE_S)


def _search(crib: Crib, asked: Mapping[str, Any], on_wait: OnWait) -> JsonObject:
    is_ready = await_vectors(crib, on_wait)
    answer = crib.search(asked["query"], limit=asked["limit"], kinds=asked["kinds"])
    answer = replace(answer, hits=tuple(map(_hit_at_rest, answer)))
    return {"is_ready": is_ready, "answer": asdict(answer)}


def _why(crib: Crib, asked: Mapping[str, Any], on_wait: OnWait) -> JsonObject:
    is_ready = await_vectors(crib, on_wait)
    query, entry = asked["query"], crib.get(asked["tool"])
    explanation = crib.explain(query, asked["tool"], limit=asked["limit"])
    opened = crib.session()
    prefetch = opened.explain_prefetch(query)
    state = "shown" if explanation.name in prefetch.names else "not shown"
    return {
        "is_ready": is_ready,
        "explanation": asdict(replace(explanation, state=_at_rest(entry))),
        "prefetch": asdict(prefetch),
        "prefetch_text": f"({opened.prefetch_mode}): {state} before any search. {prefetch}.",
    }


def _ranking(crib: Crib, asked: Mapping[str, Any], _on_wait: OnWait) -> JsonObject:
    """How a search ranks, by each of some settings. The dashboard asks; it waits for no vectors."""
    explained = searcher_of(crib).explain_ranking
    query, tools = Query(str(asked["query"])), [str(each) for each in asked["tools"]]
    sides = [each if each in ALTERNATIVES else AS_SET for each in asked["alternatives"]]
    return {
        "is_ready": crib.index.embedded(0),
        "rankings": [asdict(explained(query, tools, each)) for each in sides],
    }


def _show(crib: Crib, asked: Mapping[str, Any], _on_wait: OnWait) -> JsonObject:
    entry = crib.get(asked["tool"])
    capability, state = entry.capability, _at_rest(entry)
    about = {"kind": capability.kind, "state": state, "remedy": _remedy(entry, state)}
    about["rules"] = inventory_of(crib).verdict(entry)
    return {**about, **asdict(capability)}


def _list(crib: Crib, asked: Mapping[str, Any], _on_wait: OnWait) -> JsonObject:
    """Everything, by name. The sum is over the tools that a model may be shown."""
    kinds, prices = asked["kinds"], session.Prices(token_counter)
    entries = sorted(crib.entries().values(), key=lambda entry: entry.name)
    listed = [entry for entry in entries if not kinds or entry.kind in kinds]
    rules, plan = inventory_of(crib).verdict, deferral_plan_in(crib, HOST)
    standings = [plan.standing(each) if each.kind == "tool" else "-" for each in listed]
    rows = list(zip(listed, standings, strict=True))
    offered = [entry for entry, standing in rows if standing.startswith(("waits", "always"))]
    return {
        "rows": [_row(entry, prices, rules(entry), standing) for entry, standing in rows],
        "offered": len(offered),
        "tokens": prices.of_entries(offered),
        "how": prices.counter.how,
        "cut": _cut(crib),
    }


def _cut(crib: Crib) -> list[Json]:
    """The servers that list more tools than were taken, a line each."""
    every = [source.status() for source in inventory_of(crib).servers.values()]
    return [f"{each.server}: {each.cut_words}; {mcp.SMALLER}" for each in every if each.cut]


def _row(entry: Entry, prices: "session.Prices", rules: str, standing: str) -> Json:
    capability = entry.capability
    return {
        "name": entry.name,
        "source": capability.owner_label,
        "kind": capability.kind,
        "state": _at_rest(entry),
        "rules": rules,
        "deferral": standing,
        "tokens": prices.of_entries([entry]),
        "flags": list(capability.flags),
    }


def _at_rest(entry: Entry) -> State:
    """The state of an entry while nothing runs that a call would start."""
    runs = entry.state == "ready" and entry.source in OUTSIDE
    return "asleep" if runs else entry.state


def _remedy(entry: Entry, state: State) -> str:
    return entry.remedy if state == entry.state else remedy(state, entry.source_id)


def _hit_at_rest(hit: Hit) -> Hit:
    """The same of a hit."""
    if hit.state != "ready" or hit.source not in OUTSIDE:
        return hit
    return replace(hit, state="asleep", remedy=remedy("asleep", hit.source_id))


def _check(crib: Crib, asked: Mapping[str, Any], _on_wait: OnWait) -> JsonObject:
    return program_reply(crib.check_program(asked["program"]))


def program_reply(value: ProgramCheck | ProgramOutcome) -> JsonObject:
    """What is known of a program, or came of it, with the names of all fields."""
    plain = asdict(value)  # it leaves named tuples as lists
    for key in ("tools", "problems", "calls"):
        if key in plain:
            plain[key] = [each._asdict() for each in getattr(value, key)]
    return plain


QUERIES: Mapping[str, Callable[[Crib, Mapping[str, Any], OnWait], JsonObject]] = {
    "search": _search,
    "why": _why,
    "show": _show,
    "list": _list,
    "check": _check,
}
"""Each by its command."""
WATCHED: Mapping[str, Callable[[Crib, Mapping[str, Any], OnWait], JsonObject]] = {
    "ranking": _ranking,
}
"""What the dashboard asks of a daemon: what it would say itself, whatever a command would."""
