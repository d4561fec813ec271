"""As many tools as a provider takes."""

from collections.abc import Iterable

from toolcrib.errors import ConfigError
from toolcrib.model import ToolInfo
from toolcrib.session import Session


def within_limit(session: Session, most: int, found: Iterable[str]) -> tuple[ToolInfo, ...]:
    """The active tools of a session, of which the provider takes so many.

    Where they are more, those that were found longest ago are left out: `found` are the names in
    the order of the conversation, and one that is found again comes into sight again. Raises
    `ConfigError` where those that are always shown are too many by themselves.
    """
    tools = session.active_tools()
    if len(tools) <= most:
        return tools
    stable = session.stable_tools()
    if len(stable) > most:
        message = (
            f"{len(stable)} tools are always shown, and the provider takes {most}: let them wait"
            " for a search (the settings tool_search, session.threshold, session.never_defer)"
        )
        raise ConfigError(message)
    last = {name: place for place, name in enumerate(found, 1)}
    waiting = sorted(tools[len(stable) :], key=lambda tool: last.get(tool.name, 0), reverse=True)
    kept = {tool.name for tool in (*stable, *waiting[: most - len(stable)])}
    return tuple(tool for tool in tools if tool.name in kept)
