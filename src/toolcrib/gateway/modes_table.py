"""Which clients defer tools by themselves, as known on the date of each line.

A client that is not here is shown the fixed tools. A line lists all tools to a client up to so
many: where the client does not defer after all, that is what a request costs at most. Nothing here
is looked at for clients of 2026-07-28, whose lists may not depend on who asks.
"""

from dataclasses import dataclass
from typing import Final

from toolcrib.settings import GatewayMode


@dataclass(frozen=True, slots=True)
class Line:
    """What a client of this name is shown while there are at most so many tools.

    `name` is a pattern for what the client calls itself when it connects, in lower case.
    """

    name: str
    mode: GatewayMode
    most: int
    known: str
    why: str


LINES: Final = (
    Line(
        "claude-code",
        "passthrough",
        200,
        "2026-11-15",
        "Defers all MCP tools unless it is told otherwise, and sends only what its search found."
        " Its ranking is by words; beyond some hundred tools ours finds more.",
    ),
    Line(
        "codex-mcp-client",
        "passthrough",
        100,
        "2026-11-15",
        "Puts all MCP tools behind its own search where model and provider have one"
        " (openai/codex#29486); ours would hide behind it. Elsewhere it lists all tools, as it"
        " always did below 100 (openai/codex#18097).",
    ),
    Line(
        "visual studio code*",
        "passthrough",
        100,
        "2026-11-15",
        "Searches tools by embeddings on its side (microsoft/vscode#310343), and asks for leave"
        " tool by tool. A request of it holds 128 tools, its own among them.",
    ),
    Line(
        "opencode",
        "search",
        0,
        "2026-11-15",
        "Its deferral was tried and taken back (anomalyco/opencode#34368).",
    ),
)
