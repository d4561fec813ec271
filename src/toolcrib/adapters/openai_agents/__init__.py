"""OpenAI Agents SDK; see `toolcrib.adapters.openai_agents.tools`."""

from toolcrib.adapters.openai_agents.tools import (
    AgentsMode,
    revealed,
    toolcrib_note,
    toolcrib_tools,
)

__all__ = ["AgentsMode", "revealed", "toolcrib_note", "toolcrib_tools"]
