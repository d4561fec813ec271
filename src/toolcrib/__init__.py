"""Toolcrib: a huge library of tools for any agent, and only the few it needs in sight.

    sources list capabilities → the pool names them once each → the index looks them up three ways
    → search fuses, cuts and explains → the agent gets a short ranked list
    → what it calls goes through one door

Start with `Crib`. A name is loaded when it is first asked for, so that the parts which need none
of them, like the shim that MCP clients launch, are there at once.
"""

from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.access import Scope
    from toolcrib.crib import Crib
    from toolcrib.errors import ToolcribError
    from toolcrib.execute import Caller
    from toolcrib.model import AgentInfo, Answer, Capability, Entry, Hit, SkillInfo, ToolInfo
    from toolcrib.search import Explanation
    from toolcrib.settings import Settings, load_settings
    from toolcrib.sources import tool
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "access": ("Scope",),
            "crib": ("Crib",),
            "errors": ("ToolcribError",),
            "execute": ("Caller",),
            "model": ("AgentInfo", "Answer", "Capability", "Entry", "Hit", "SkillInfo", "ToolInfo"),
            "search": ("Explanation",),
            "settings": ("Settings", "load_settings"),
            "sources": ("tool",),
        },
    )

__all__ = [
    "AgentInfo",
    "Answer",
    "Caller",
    "Capability",
    "Crib",
    "Entry",
    "Explanation",
    "Hit",
    "Scope",
    "Settings",
    "SkillInfo",
    "ToolInfo",
    "ToolcribError",
    "load_settings",
    "tool",
]
