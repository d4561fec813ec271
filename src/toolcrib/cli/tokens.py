"""The command `toolcrib tokens`, and what tools cost wherever a model is shown them.

`surfaces` counts each place where a model is shown tools; `savings` compares what each MCP client
sent its model before with what it sends now. Both count name, description and parameters, as a
model is sent them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Annotated, Any

import typer

from toolcrib.adapters import plain_json
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import (
    AsJson,
    Footnote,
    console,
    print_footnotes,
    print_json,
    print_text,
    table,
)
from toolcrib.client_config import Client
from toolcrib.crib import HOST, Crib, inventory_of
from toolcrib.errors import ConfigError
from toolcrib.gateway import DEFAULT_PROFILE, EffectiveMode, local_principal
from toolcrib.session import Prices, Session, SourceTokens, TokenEstimate, tools_of
from toolcrib.text import TokenCounter, token_counter, tool_definition

# What tools cost at each place where a model is shown them, counted on what is sent there.


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
        yield _gateway_surface(crib, name, counter)
    for name, request in _WIRES.items():
        try:
            sent = _request_tokens(request, crib.session(tool_search=mode), counter)
        except ImportError:
            continue
        yield Surface(name, _eager_tokens(request, crib, counter), sent)


def _gateway_surface(crib: Crib, name: str, counter: TokenCounter) -> Surface:
    from toolcrib.gateway import initial_context  # noqa: PLC0415 - it loads the MCP SDK

    principal = local_principal(crib.settings.gateway, name)
    sent, eager = initial_context(crib, principal), initial_context(crib, principal, "direct")
    shows = sent.mode if inventory_of(crib).seen_by(principal.caller) else "shows nothing"
    all_listed = counter.count(eager.text) if inventory_of(crib).seen_by(principal.caller) else 0
    few = f"fewer than {crib.settings.session.threshold} tools are all listed: nothing to save yet"
    return Surface(
        f"gateway, profile {name} ({shows})",
        all_listed,
        counter.count(sent.text),
        note=few if shows == "direct" and principal.profile.mode == "auto" else "",
    )


def _eager_tokens(request: "Request", crib: Crib, counter: TokenCounter) -> int | None:
    try:
        return _request_tokens(request, crib.session(tool_search="off"), counter)
    except ConfigError:
        return None


def _request_tokens(request: "Request", session: Session, counter: TokenCounter) -> int:
    tools, note = request(session)
    listed = json.dumps(plain_json(tools), ensure_ascii=False, separators=(",", ":"))
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


Mode = Annotated[
    str | None,
    typer.Option(
        metavar="MODE",
        help="Take this mode in place of the setting `tool_search`; not for the gateway.",
    ),
]


def tokens_command(context: typer.Context, mode: Mode = None, as_json: AsJson = False) -> None:
    """Tell what your tools cost a model, and what deferring saves.

    First the definitions of each source by themselves: all of them, and those that are never
    deferred. Then what is really sent, for each place where a model is shown tools: every tool
    listed, and what stands in their place before any search. For the gateway that is its
    instructions and its `tools/list`; for a provider the tools of a request as its wire has them,
    the note and the summary. A provider adds words of its own, which nobody can count here. What
    MCP servers ask to be always loaded is told below.
    """
    options: GlobalOptions = context.obj
    with options.crib() as crib:
        estimate = crib.session(tool_search=mode).token_estimate()
        places = list(surfaces(crib, mode, token_counter()))
        asked = Prices(token_counter).asked_loads(
            tools_of(inventory_of(crib).seen_by(HOST).values())
        )
    if as_json:
        told = [asdict(each) | {"share": each.share} for each in places]
        saved = {"saved": estimate.saved, "share": estimate.share}
        print_json(asdict(estimate) | saved | {"surfaces": told, "asked_loads": asked})
        return
    _show_costs(estimate, places)
    for each in asked:
        print_text(f"{each}.")


def _show_costs(estimate: TokenEstimate, places: list[Surface]) -> None:
    screen = console()
    total = ("all", estimate.tools, f"{estimate.eager:,}", f"{_core(estimate):,}")
    columns = ["definitions of", ">tools", ">tokens", ">never deferred"]
    screen.print(table("", columns, [*map(_source_row, estimate.sources), total]))
    screen.print()
    columns = ["sent by", ">all listed", ">with search", ">saved"]
    screen.print(table("", columns, map(_surface_row, places)))
    print_footnotes(Footnote(each.name, each.note) for each in places if each.note)
    print_text(_verdict(estimate))


def _source_row(cost: SourceTokens) -> tuple[object, ...]:
    return cost.source, cost.tools, f"{cost.eager:,}", f"{cost.core:,}"


def _core(estimate: TokenEstimate) -> int:
    return sum(cost.core for cost in estimate.sources)


def _surface_row(place: Surface) -> tuple[object, ...]:
    eager = "too many" if place.eager is None else f"{place.eager:,}"
    share = "" if place.share is None else f"{place.share:.1%}"
    return place.name, eager, f"{place.sent:,}", share


def _verdict(estimate: TokenEstimate) -> str:
    how = f"Tokens are {estimate.how}."
    if not estimate.break_even:
        return f"Nothing is deferred: all {estimate.tools} tools are sent whole. {how}"
    return (
        f"A conversation that has revealed {estimate.break_even} tools costs no less than with all"
        f" listed. {how}"
    )


# What each MCP client sent its model before and sends now: counted on the real definitions.

CALLS_ITSELF: Mapping[str, str] = {"codex": "codex-mcp-client", "vscode": "visual studio code"}
"""What a client says its name is, where that is not our name for it."""


@dataclass(frozen=True, slots=True)
class Saving:
    """One client: its servers, their tools, and the tokens of each request before and now.

    `mode` is how the gateway shows it the tools; `uncounted` are servers that never listed any.
    """

    client: str
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
    sources = [
        inventory_of(crib).servers[name] for name in names if name in inventory_of(crib).servers
    ]
    listed = [each for source in sources for each in source.capabilities()]
    mode, now = _tokens_now(crib, CALLS_ITSELF.get(client.name, client.name), counter)
    return Saving(
        client=title,
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

    principal = local_principal(crib.settings.gateway)
    sent = initial_context(crib, principal, client=client)
    listed = sum(counter.count(_tool_definition(tool)) for tool in sent.tools)
    return sent.mode, counter.count(sent.instructions) + listed


def _tool_definition(tool: Mapping[str, Any]) -> str:
    shown = {
        "name": tool["name"],
        "description": tool.get("description", ""),
        "parameters": tool["inputSchema"],
    }
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
