"""How a principal's tools are listed: by what the profile says, else by what waits and by client.

`CLIENT_DEFAULTS` has the clients that defer tools by themselves. A client that is not there is
shown the fixed tools. Each line has a limit: should the client not defer after all, a request costs
no more than that. The table does not apply to clients of 2026-07-28, whose lists may not depend on
who asks.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal

from toolcrib.errors import ConfigError
from toolcrib.program import engine_version
from toolcrib.settings import GatewayMode, Settings
from toolcrib.wiring import deferral_of

EffectiveMode = Literal["search", "reveal", "direct", "passthrough", "code"]


@dataclass(frozen=True, slots=True)
class ClientDefault:
    """The mode for a client of this name while there are at most so many tools.

    `name` is a pattern for what the client calls itself when it connects, in lower case.
    `checked` is the date on which somebody looked.
    """

    name: str
    mode: EffectiveMode
    most_tools: int
    checked: str
    why: str


CLIENT_DEFAULTS: Final = (
    ClientDefault(
        "claude-code",
        "passthrough",
        200,
        "2026-11-15",
        "Defers all MCP tools unless it is told otherwise, and sends only what its search found."
        " Its ranking is by words; beyond some hundred tools ours finds more.",
    ),
    ClientDefault(
        "codex-mcp-client",
        "passthrough",
        100,
        "2026-11-15",
        "Puts all MCP tools behind its own search where model and provider have one"
        " (openai/codex#29486); ours would hide behind it. Elsewhere it lists all tools, as it"
        " always did below 100 (openai/codex#18097).",
    ),
    ClientDefault(
        "visual studio code*",
        "passthrough",
        100,
        "2026-11-15",
        "Searches tools by embeddings on its side (microsoft/vscode#310343), and asks for leave"
        " tool by tool. A request of it holds 128 tools, its own among them.",
    ),
    ClientDefault(
        "opencode",
        "search",
        0,
        "2026-11-15",
        "Its deferral was tried and taken back (anomalyco/opencode#34368).",
    ),
)


def check_modes(settings: Settings) -> None:
    """Return if every mode that is set can be served. Raises `ConfigError` with the remedy."""
    if deferral_of(settings, None, None).style == "code":
        check_mode("code", "session.style")
    check_mode(settings.gateway.mode)
    for name, profile in settings.gateway.profiles.items():
        check_mode(profile.mode, f"gateway.profiles.{name}.mode")


def check_mode(mode: GatewayMode, key: str = "gateway.mode") -> None:
    """Return if a mode can be served. Raises `ConfigError` that names the setting."""
    if mode != "code":
        return
    try:
        engine_version()
    except ConfigError as error:
        raise ConfigError(f'{key} = "code": {error}') from None


def effective_mode(
    mode: GatewayMode, *, tools: int, waits: bool, client: str, modern: bool
) -> EffectiveMode:
    """The mode for a client, of the mode that is set.

    `auto` is `direct` where no tool `waits` for a search. No tools at all are none of these: there
    may be more soon, and not every client lists a second time. The modern era has no connection
    that tools could be revealed to, and its lists may not depend on the client: there `reveal` is
    `search`, and the name of the client does not count.
    """
    if mode == "auto":
        return _automatic(tools, "" if modern else client, waits=waits)
    return "search" if mode == "reveal" and modern else mode


def _automatic(tools: int, client: str, *, waits: bool) -> EffectiveMode:
    if tools and not waits:
        return "direct"
    for each in CLIENT_DEFAULTS:
        if fnmatchcase(client.lower(), each.name) and tools <= each.most_tools:
            return each.mode
    return "search"
