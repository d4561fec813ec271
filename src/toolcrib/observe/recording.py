"""An event as it may be kept and shown: each text short, on one line, with nothing hidden in it.

Names come from servers, clients and models. What hides in one would hide from the operator.
"""

import hashlib
import math

from toolcrib.model import Event
from toolcrib.observe.masking import LONGEST_TEXT, mask_personal
from toolcrib.text import printable

LONGEST_NAME = 128
MARK_LENGTH = 12


def recorded(event: Event) -> Event:
    """The event, bounded. Costs next to nothing where there is nothing to do."""
    caller, client, conversation, name = event[2:6]
    words = f"{caller}{client}{conversation}{name}{event.server}{event.code}{event.trace}"
    is_plain = len(words) <= LONGEST_NAME and words.isascii() and words.isprintable()
    if not is_plain:
        event = _bounded(event)
    if event.kind == "call" and not event.facts.get("pin"):  # no tool has this name: a model's word
        event = event._replace(name=mask_personal(event.name))
    if not math.isfinite(event.seconds):
        event = event._replace(seconds=0.0)
    return event


def conversation_mark(id: str) -> str:
    """A name for a conversation by which nobody can join it."""
    return hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:MARK_LENGTH]


def query_text(text: str) -> str:
    """A query as it is shown to those who look on: bounded, one line, nothing hidden in it."""
    return one_line(text[:LONGEST_TEXT], LONGEST_TEXT)


def one_line(text: str, longest: int = LONGEST_NAME) -> str:
    """A text with each hidden character written out, on one line, and cut to some length."""
    text = text[:longest]
    if text.isascii() and text.isprintable():
        return text
    return printable(text).replace("\n", " ").replace("\t", " ")[:longest]


def _bounded(event: Event) -> Event:
    return event._replace(
        caller=one_line(event.caller),
        client=one_line(event.client),
        conversation=one_line(event.conversation),
        name=one_line(event.name),
        server=one_line(event.server),
        code=one_line(event.code),
        trace=one_line(event.trace),
    )
