"""The events of a crib: searches, programs, reveals of conversations. The stages know of none."""

from __future__ import annotations

import time
from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.model import Event, Json, SpanRecord, read_traceparent, read_tracestate, trace_id
from toolcrib.observe import child_of
from toolcrib.search import parse_query
from toolcrib.strict_json import canonical_json
from toolcrib.text import estimate_tokens

if TYPE_CHECKING:
    from toolcrib.execute import Caller
    from toolcrib.model import Answer, ConversationTokens
    from toolcrib.observe import Record
    from toolcrib.program import ProgramOutcome
    from toolcrib.session import Reveals

MOST_NAMED = 20
NOTHING_FOUND = "nothing_found"


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """A search that was answered: at what time, after how many seconds."""

    answer: Answer
    caller: Caller
    at: float
    seconds: float

    def event(self) -> Event:
        """What is kept of it: names and figures. The query goes along, and stays in memory."""
        found, origin = self.answer, self.caller.origin
        return Event(
            self.at,
            "search",
            self.caller.id,
            origin.client,
            origin.conversation,
            seconds=self.seconds,
            code="" if found.hits else NOTHING_FOUND,
            trace=trace_id(read_traceparent(origin.trace)),
            facts={
                "form": query_form(found.query),
                "hits": [hit.name for hit in found.hits],
                "confidence": found.confidence,
                "chance": round(found.chance, 3),
            },
            query=found.query,
        )

    def span(self, *, content: bool) -> SpanRecord:
        """The span of it; `content`: with the query, and with the names of its hits."""
        found, origin = self.answer, self.caller.origin
        facts: dict[str, Json] = {
            "form": query_form(found.query),
            "variants": found.variants,
            "candidates": found.candidates,
            "hits": len(found.hits),
            "chance": round(found.chance, 3),
            "confidence": found.confidence,
            "abstained": not found.hits and found.candidates > 0,
        }
        if content:
            facts |= {"query": found.query, "documents": [hit.name for hit in found.hits]}
        parent = read_traceparent(origin.trace)
        return SpanRecord(
            "retrieval",
            self.at - self.seconds,
            self.seconds,
            child_of(parent),
            parent,
            read_tracestate(origin.trace_state),
            facts=facts,
        )


@dataclass(frozen=True, slots=True)
class ProgramRecord:
    """A program that ran, or went on. `known` are the tools that there are."""

    outcome: ProgramOutcome
    caller: Caller
    known: Container[str]
    at: float
    seconds: float
    resumed: bool

    def event(self) -> Event:
        """What is kept of it: names and figures, and nothing that the program has written."""
        outcome, origin = self.outcome, self.caller.origin
        calls, error, content = outcome.calls, outcome.error, outcome.content
        text = content if isinstance(content, str) else canonical_json(content)
        named = dict.fromkeys(call.tool for call in calls if call.tool in self.known)
        return Event(
            self.at,
            "program",
            self.caller.id,
            origin.client,
            origin.conversation,
            seconds=self.seconds,
            code=error.code if error else "",
            trace=trace_id(read_traceparent(origin.trace)),
            facts={
                "calls": len(calls),
                "failed": sum(call.effect != "done" for call in calls),
                "tools": list[Json](named)[:MOST_NAMED],
                "kept": sum(call.size for call in calls),
                "tokens": estimate_tokens(text) if content is not None else 0,
                "resumed": self.resumed,
            },
        )


def query_form(text: str) -> str:
    """The form of a query in a word: free, select, required, pattern, browse."""
    return type(parse_query(text)).__name__.removesuffix("Query").lower()


class RecordedReveals:
    """The reveals of a conversation, each with an event."""

    def __init__(self, reveals: Reveals, caller: Caller, record: Record) -> None:
        self._reveals = reveals
        self._caller = caller
        self._record = record

    def names(self) -> tuple[str, ...]:
        """As the protocol says."""
        return self._reveals.names()

    def add(self, names: Iterable[str]) -> tuple[str, ...]:
        """As the protocol says."""
        new = self._reveals.add(names)
        if new:
            self._record(reveal_event(self._caller, new))
        return new

    def keep(self, names: Collection[str]) -> None:
        """As the protocol says."""
        self._reveals.keep(names)

    def tokens(self) -> ConversationTokens:
        """As the protocol says."""
        return self._reveals.tokens()

    def set_tokens(self, tokens: ConversationTokens) -> None:
        """As the protocol says."""
        self._reveals.set_tokens(tokens)


def reveal_event(caller: Caller, names: Iterable[str]) -> Event:
    """That a conversation of this caller was shown these tools."""
    client, conversation, traceparent, _ = caller.origin
    trace = trace_id(read_traceparent(traceparent))
    facts = {"tools": list(names)}
    return Event(time.time(), "reveal", caller.id, client, conversation, trace=trace, facts=facts)
