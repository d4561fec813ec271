"""One event with those of its conversation: what was searched, shown and called, in order."""

from collections.abc import Mapping, Sequence

import htpy as h

from toolcrib.dashboard.event_queries import EventStory
from toolcrib.dashboard.page import PageView, empty, page, within_room
from toolcrib.dashboard.screens.event_rows import (
    MOST_NAMED,
    about,
    count,
    duration,
    ended,
    facts_list,
    moment,
    named,
    names_of,
    result,
    took,
    why_address,
)
from toolcrib.dashboard.spelling import spelt_short
from toolcrib.model import FINE_CODES, Event

ROOM = 32_000
AROUND = 15
MOST_HITS = 8
DONE = {
    "search": "searched",
    "reveal": "was shown",
    "call": "called",
    "program": "ran a program with",
    "list": "listed tools",
    "client": "",
    "approval": "asked about",
}


def story_screen(view: PageView, story: EventStory) -> h.Element:
    """An event, and what came before and after it."""
    back = h.p(".back")[h.a(href="/live")["All events"]]
    if not story.events:
        gone = empty("No such event", "It is too old, or it was never there.")
        return page(view, "Event", back, h.h1["Event"], gone, wide=True)
    event = story.events[story.id]
    return page(
        view,
        "Event",
        back,
        h.div("#story")[
            h.h1[event.kind.capitalize(), ": ", about(event)],
            facts_list(
                {
                    "When": moment(event.at),
                    "Client": spelt_short(event.client) if event.client else None,
                    "Caller": spelt_short(event.caller) if event.caller else None,
                    "Conversation": _conversation(event),
                }
            ),
            h.h2["What happened"],
            _steps(story),
        ],
        wide=True,
    )


def _conversation(event: Event) -> h.Node:
    return h.code[spelt_short(event.conversation, 40)] if event.conversation else None


def _steps(story: EventStory) -> h.Node:
    """The steps around the event, in order."""
    ids = list(story.events)
    place = ids.index(story.id)
    near = ids[max(0, place - AROUND) : place + AROUND + 1]
    before, after = max(0, place - AROUND), len(ids) - place - AROUND - 1
    steps = [_step(story, id) for id in near]
    shown, left = within_room(steps, ROOM)
    return [
        h.p(".hint")[f"{before} earlier ones are not shown."] if before else None,
        h.ol(".steps")[shown],
        h.p(".hint")[f"{left + max(0, after)} later ones are not shown."]
        if left or after > 0
        else None,
    ]


def _step(story: EventStory, id: int) -> h.Element:
    event = story.events[id]
    current = "true" if id == story.id else None
    return h.li(class_=None if event.code in FINE_CODES else "bad", aria_current=current)[
        h.p(".step")[
            moment(event.at), " ", h.strong[DONE.get(event.kind, event.kind)], " ", about(event)
        ],
        facts_list(_facts(event, story.starts)),
    ]


def _facts(event: Event, starts: Sequence[Event]) -> Mapping[str, h.Node]:
    facts = event.facts
    match event.kind:
        case "search":
            return {
                "Found": [named(names_of(facts.get("hits")), MOST_HITS), result(event)],
                "Took": took(event),
                "Why": h.a(href=why_address(event.query))["Why these?"] if event.query else None,
            }
        case "call":
            return {
                "Ended": [ended(event), _effect(event)],
                "Rules": spelt_short(facts.get("verdict") or ""),
                "Repaired": _repaired(facts.get("repaired")),
                "Server": spelt_short(event.server) if event.server else None,
                "Its start": _start(event, starts),
                "Took": took(event),
            }
        case "program":
            kept, tokens = facts.get("kept"), facts.get("tokens")
            return {
                "Ended": ended(event),
                "Calls": f"{count(facts.get('calls'))}, {count(facts.get('failed'))} not done",
                "Stayed with it": f"{count(kept)} characters" if kept else None,
                "Came back": f"about {count(tokens)} tokens" if tokens else None,
                "Took": took(event),
            }
        case "reveal":
            names = names_of(facts.get("tools"))
            tokens = facts.get("tokens")
            return {
                "Tools": named(names, MOST_HITS) if len(names) > MOST_NAMED else None,
                "Tokens": count(tokens) if tokens else None,
            }
        case "list":
            return {
                "Mode": spelt_short(facts.get("mode") or ""),
                "Tokens": f"{count(facts.get('sent'))} sent, {count(facts.get('eager'))} for all",
            }
        case _:
            return {"Ended": ended(event), "Took": took(event)}


def _effect(event: Event) -> h.Node:
    effect = event.facts.get("effect")
    return [" (", spelt_short(effect), ")"] if effect and effect != "not_sent" else None


def _repaired(number: object) -> str | None:
    if not isinstance(number, int) or not number:
        return None
    return f"{number} argument{'' if number == 1 else 's'} put right"


def _start(call: Event, starts: Sequence[Event]) -> str | None:
    """How long its server took to start, where it was started for this call."""
    end = call.at + call.seconds
    took_s = [
        each.seconds for each in starts if each.server == call.server and call.at <= each.at <= end
    ]
    return duration(took_s[0]) if took_s else None
