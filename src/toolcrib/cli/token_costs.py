"""What tools cost wherever a model is shown them, counted on what is sent there.

`surfaces` counts each place where a model is shown tools: the gateway, and the wire of each
provider. `savings` compares what each MCP client sent its model before, every tool of its own
servers, with what the gateway lists in their place now. Both count name, description and
parameters, as a model is sent them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from toolcrib.adapters.wire.reply import sdk_json
from toolcrib.client_config import Client
from toolcrib.crib import Crib, inventory_of
from toolcrib.errors import ConfigError
from toolcrib.gateway import DEFAULT_PROFILE, EffectiveMode, local_principal
from toolcrib.session import Session
from toolcrib.text import TokenCounter, tool_definition


@dataclass(frozen=True, slots=True)
class Surface:
    """One place: tokens with every tool listed, and of what is sent there before any search.

    `eager` None: the place does not take so many tools. `prefetched` is `sent` with what a message
    of the user shows unasked; None where no message is seen. `note` says why nothing is saved,
    where that is as it should be.
    """

    name: str
    eager: int | None
    sent: int
    note: str = ""
    prefetched: int | None = None

    @property
    def share(self) -> float | None:
        """What part of the price of all is saved; below 0 where deferring costs."""
        return 1 - self.sent / self.eager if self.eager else None


def surfaces(
    crib: Crib, tool_search: str | None, counter: TokenCounter, message: str = ""
) -> Iterator[Surface]:
    """The gateway for each profile, then the wire of each provider whose SDK is installed.

    Without a message of the user, what one shows unasked is counted as the most that it may be.
    """
    for name in {DEFAULT_PROFILE: None, **crib.settings.gateway.profiles}:
        yield _gateway_surface(crib, name, counter)
    for name, wire in _WIRES.items():
        session = crib.session(tool_search=tool_search)
        try:
            sent = _request_tokens(wire, session, counter)
        except ImportError:
            continue
        prefetched = sent + _prefetched_tokens(crib, session, message)
        yield Surface(name, _eager_tokens(wire, crib, counter), sent, prefetched=prefetched)


def _gateway_surface(crib: Crib, name: str, counter: TokenCounter) -> Surface:
    from toolcrib.gateway import initial_context  # noqa: PLC0415 - it loads the MCP SDK

    principal = local_principal(crib.settings.gateway, name)
    sent, eager = initial_context(crib, principal), initial_context(crib, principal, "direct")
    visible = inventory_of(crib).seen_by(principal.caller)
    shows = sent.mode if visible else "shows nothing"
    all_listed = counter.count(eager.text) if visible else 0
    few = "no tool waits for a search, so that all are listed: nothing to save yet"
    return Surface(
        f"gateway, profile {name} ({shows})",
        all_listed,
        counter.count(sent.text),
        note=few if shows == "direct" and principal.profile.mode == "auto" else "",
    )


def _prefetched_tokens(crib: Crib, session: Session, message: str) -> int:
    """The tokens of what a message shows unasked; of an unknown message the most they may be."""
    if session.prefetch_mode == "off" or not session.deferring:
        return 0
    if not message:
        return crib.settings.session.prefetch_tokens
    return session.explain_prefetch(message).tokens


def _eager_tokens(wire: "WireClass", crib: Crib, counter: TokenCounter) -> int | None:
    try:
        return _request_tokens(wire, crib.session(tool_search="off"), counter)
    except ConfigError:
        return None


def _request_tokens(wire_class: "WireClass", session: Session, counter: TokenCounter) -> int:
    """Raises `ImportError` where the SDK of the provider is not installed."""
    module, name, mode = wire_class
    options = {"model": "", "endpoint": "", "mode": mode} if mode else {}
    wire = getattr(import_module(f"toolcrib.adapters.{module}"), name)(session, **options)
    sent = wire.request([])
    tools = sent["config"].tools if "config" in sent else sent.get("tools", [])
    listed = json.dumps(sdk_json(tools), ensure_ascii=False, separators=(",", ":"))
    return sum(map(counter.count, filter(None, (listed, wire.system_note()))))


class WireClass(NamedTuple):
    """The wire of a provider; with a `mode`, the one that is native there."""

    module: str
    name: str
    mode: str = ""


_WIRES = {
    "Anthropic Messages": WireClass("anthropic", "AnthropicWire", "reference"),
    "OpenAI Responses": WireClass("openai_responses", "ResponsesWire", "output"),
    "OpenAI Chat Completions": WireClass("openai_chat", "ChatWire"),
    "Gemini": WireClass("gemini", "GeminiWire"),
}


CALLS_ITSELF: Mapping[str, str] = {"codex": "codex-mcp-client", "vscode": "visual studio code"}
"""What a client says its name is, where that is not our name for it."""


@dataclass(frozen=True, slots=True)
class Saving:
    """One client: its servers, their tools, and the tokens of each request before and now.

    `client` is its title, and `name` what commands call it. `mode` is how the gateway shows it the
    tools; `uncounted` are servers that never listed any.
    """

    client: str
    name: str
    servers: int
    tools: int
    before: int
    now: int
    mode: EffectiveMode
    uncounted: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """What part is saved; below 0 where the gateway costs more."""
        return 1 - self.now / self.before if self.before else 0.0

    @property
    def costs_more(self) -> bool:
        """Whether the client is better off with its own servers, as far as tokens go.

        Nobody knows of a list that the client itself chooses from, nor of one with servers missing.
        """
        return self.share < 0 and self.mode != "passthrough" and not self.uncounted


def savings(
    crib: Crib, clients: Mapping[str, tuple[Client, AbstractSet[str]]], counter: TokenCounter
) -> list[Saving]:
    """One for each client, by title, whose servers are ours by these names, if it had any."""
    return [
        _saving_of(crib, title, client, sorted(names), counter)
        for title, (client, names) in clients.items()
        if names & inventory_of(crib).servers.keys()
    ]


def _saving_of(
    crib: Crib, title: str, client: Client, names: Sequence[str], counter: TokenCounter
) -> Saving:
    servers = inventory_of(crib).servers
    sources = [servers[name] for name in names if name in servers]
    listed = [each for source in sources for each in source.capabilities()]
    mode, now = _tokens_now(crib, CALLS_ITSELF.get(client.name, client.name), counter)
    return Saving(
        client=title,
        name=client.name,
        servers=len(names),
        tools=len(listed),
        before=sum(counter.count(tool_definition(tool)) for tool in listed),
        now=now,
        mode=mode,
        uncounted=tuple(source.server for source in sources if source.is_unknown),
    )


def _tokens_now(crib: Crib, client: str, counter: TokenCounter) -> tuple[EffectiveMode, int]:
    """How the gateway shows its tools to a client of this name, and the tokens of that."""
    from toolcrib.gateway import initial_context  # noqa: PLC0415 - it loads the MCP SDK

    principal = local_principal(crib.settings.gateway, DEFAULT_PROFILE)
    context = initial_context(crib, principal, client=client)
    listed = sum(counter.count(_tool_definition(tool)) for tool in context.tools)
    return context.mode, counter.count(context.instructions) + listed


def _tool_definition(tool: Mapping[str, Any]) -> str:
    definition = {
        "name": tool["name"],
        "description": tool.get("description", ""),
        "parameters": tool["inputSchema"],
    }
    return json.dumps(definition, ensure_ascii=False, separators=(",", ":"))
