"""How a principal's tools are listed: by what the profile says, else by size and by client.

`CLIENT_DEFAULTS` says which clients defer tools by themselves, as known on the date of each line. A
client that is not there is shown the fixed tools. A line lists all tools to a client up to so many:
where the client does not defer after all, that is what a request costs at most. The table does not
apply to clients of 2026-07-28, whose lists may not depend on who asks.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal, cast

from toolcrib.settings import GatewayMode

# Which clients defer tools by themselves, as known on the date of each line.


@dataclass(frozen=True, slots=True)
class ClientDefault:
    """What a client of this name is shown while there are at most so many tools.

    `name` is a pattern for what the client calls itself when it connects, in lower case.
    """

    name: str
    mode: GatewayMode
    most: int
    known: str
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


EffectiveMode = Literal["search", "reveal", "direct", "passthrough"]


def effective_mode(
    said: GatewayMode, *, tools: int, threshold: int, client: str, modern: bool
) -> EffectiveMode:
    """The mode for a client. `auto` is `direct` for fewer tools than the threshold.

    But for none at all: there may be more soon, and not every client lists a second time.
    The modern era has no connections that a reveal could be for, and its lists may not depend on
    the client: there `reveal` is `search`, and the client's name counts for nothing.
    """
    if said == "auto":
        return _automatic(tools, threshold, "" if modern else client)
    return "search" if said == "reveal" and modern else said


def _automatic(tools: int, threshold: int, client: str) -> EffectiveMode:
    if 0 < tools < threshold:
        return "direct"
    for line in CLIENT_DEFAULTS:
        if fnmatchcase(client.lower(), line.name) and tools <= line.most:
            return cast("EffectiveMode", line.mode)
    return "search"
