"""What tools cost at each place where a model is shown them, counted on what is sent there."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from toolcrib.adapters.wire.plain import plain
from toolcrib.crib import Crib
from toolcrib.errors import ConfigError
from toolcrib.gateway import DEFAULT_PROFILE, LOCAL_USER, Principal, profile_named
from toolcrib.session import Session
from toolcrib.text.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Surface:
    """One place: tokens with every tool listed, and of what is sent there before any search.

    `eager` None: so many tools are not taken there at all. `note` says why nothing is saved where
    that is as it should be.
    """

    name: str
    eager: int | None
    sent: int
    note: str = ""

    @property
    def share(self) -> float | None:
        """What part of the price of all is saved; below 0 where deferring costs."""
        return 1 - self.sent / self.eager if self.eager else None


def surfaces(crib: Crib, mode: str | None, counter: TokenCounter) -> Iterator[Surface]:
    """The gateway for each profile, then the wire of each provider whose SDK is installed."""
    for name in {DEFAULT_PROFILE: None, **crib.settings.gateway.profiles}:
        yield _gateway(crib, name, counter)
    for name, request in _WIRES.items():
        try:
            sent = _priced(request, crib.session(mode=mode), counter)
        except ImportError:
            continue
        yield Surface(name, _eager(request, crib, counter), sent)


def _gateway(crib: Crib, name: str, counter: TokenCounter) -> Surface:
    from toolcrib.gateway import initial_context  # noqa: PLC0415 - it loads the MCP SDK

    principal = Principal(LOCAL_USER, profile_named(crib.settings.gateway, name))
    sent, eager = initial_context(crib, principal), initial_context(crib, principal, "direct")
    shows = sent.mode if crib.seen_by(principal.caller) else "shows nothing"
    all_listed = counter.count(eager.text) if crib.seen_by(principal.caller) else 0
    few = f"fewer than {crib.settings.session.threshold} tools are all listed: nothing to save yet"
    return Surface(
        f"gateway, profile {name} ({shows})",
        all_listed,
        counter.count(sent.text),
        note=few if shows == "direct" and principal.profile.mode == "auto" else "",
    )


def _eager(request: "Request", crib: Crib, counter: TokenCounter) -> int | None:
    try:
        return _priced(request, crib.session(mode="off"), counter)
    except ConfigError:
        return None


def _priced(request: "Request", session: Session, counter: TokenCounter) -> int:
    tools, note = request(session)
    listed = json.dumps(plain(tools), ensure_ascii=False, separators=(",", ":"))
    return sum(map(counter.count, filter(None, (listed, note, session.deferred_summary()))))


Request = Callable[[Session], tuple[Any, str]]
"""The tools of a first request, as they are sent, and the note for its prompt."""


def _anthropic(session: Session) -> tuple[Any, str]:
    said = {"model": "", "endpoint": "", "mode": "reference"}
    wire = import_module("toolcrib.adapters.anthropic").AnthropicWire(session, **said)
    return wire.request([])["tools"], wire.system_note()


def _responses(session: Session) -> tuple[Any, str]:
    said = {"model": "", "endpoint": "", "mode": "output"}
    wire = import_module("toolcrib.adapters.openai_responses").ResponsesWire(session, **said)
    return wire.request([]).get("tools", []), wire.system_note()


def _chat(session: Session) -> tuple[Any, str]:
    wire = import_module("toolcrib.adapters.openai_chat").ChatWire(session)
    return wire.request([]).get("tools", []), wire.system_note()


def _gemini(session: Session) -> tuple[Any, str]:
    wire = import_module("toolcrib.adapters.gemini").GeminiWire(session)
    return wire.request([])["config"].tools, wire.system_note()


_WIRES: Mapping[str, Request] = {
    "Anthropic Messages": _anthropic,
    "OpenAI Responses": _responses,
    "OpenAI Chat Completions": _chat,
    "Gemini": _gemini,
}
