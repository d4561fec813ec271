"""What each MCP client sent its model before and sends now: counted on the real definitions.

Before: every tool of its own servers, as they list them. Now: what the gateway tells and lists in
their place. Both as a model is sent them: name, description and parameters.
"""

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from toolcrib.crib import Crib
from toolcrib.gateway import DEFAULT_PROFILE, LOCAL_USER, EffectiveMode, Principal, profile_named
from toolcrib.takeover.clients import Client
from toolcrib.text.tokens import TokenCounter, definition

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
        _saving(crib, title, client, sorted(names), counter)
        for title, (client, names) in clients.items()
        if names & crib.servers.keys()
    ]


def _saving(
    crib: Crib, title: str, client: Client, names: Sequence[str], counter: TokenCounter
) -> Saving:
    sources = [crib.servers[name] for name in names if name in crib.servers]
    listed = [each for source in sources for each in source.capabilities()]
    mode, now = _now(crib, CALLS_ITSELF.get(client.name, client.name), counter)
    return Saving(
        client=title,
        servers=len(names),
        tools=len(listed),
        before=sum(counter.count(definition(tool)) for tool in listed),
        now=now,
        mode=mode,
        uncounted=tuple(source.server for source in sources if source.is_unknown),
    )


def _now(crib: Crib, client: str, counter: TokenCounter) -> tuple[EffectiveMode, int]:
    """How the gateway shows its tools to a client of this name, and the tokens of that."""
    from toolcrib.gateway import initial_context  # noqa: PLC0415 - it loads the MCP SDK

    principal = Principal(LOCAL_USER, profile_named(crib.settings.gateway, DEFAULT_PROFILE))
    told = initial_context(crib, principal, client=client)
    listed = sum(counter.count(_definition(tool)) for tool in told.tools)
    return told.mode, counter.count(told.told) + listed


def _definition(tool: Mapping[str, Any]) -> str:
    shown = {
        "name": tool["name"],
        "description": tool.get("description", ""),
        "parameters": tool["inputSchema"],
    }
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
