"""Every source that the settings name: made once, and a broken one costs no other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from toolcrib.errors import ToolcribError
from toolcrib.settings import Settings
from toolcrib.sources.function_source import FunctionSource
from toolcrib.sources.plugins import Plugins, load_plugins
from toolcrib.sources.protocol import Source


@dataclass(frozen=True, slots=True)
class SettingsSources:
    """The sources that could be made, and the problems of those that could not.

    What is wrong inside a source is in its own `problems`. MCP servers are apart: see `McpServers`.
    """

    sources: tuple[Source, ...]
    problems: tuple[str, ...]


def sources_from_settings(
    settings: Settings, functions: FunctionSource, *, has_servers: bool
) -> SettingsSources:
    """Make every source that the settings name, but MCP servers. One that fails becomes a problem.

    Functions that the settings name are added to `functions`, and so are descriptions of functions
    that come later. `has_servers`: the settings name MCP servers too, or try to.
    """
    plugins = load_plugins() if settings.plugins else Plugins()
    sources: list[Source] = []
    problems = list(map(str, plugins.problems))
    builtin = _wants_builtin_tools(settings, has_servers=has_servers)
    for make in _makers(settings, functions, builtin=builtin):
        try:
            sources.append(make())
        except ToolcribError as error:
            problems.append(str(error))
    problems += _declare_all(settings, functions)
    return SettingsSources((*sources, *plugins.sources), tuple(problems))


def _wants_builtin_tools(settings: Settings, *, has_servers: bool) -> bool:
    """Whether the tools that come with Toolcrib are in the pool.

    Someone who has tools of their own should not find ours before them.
    """
    if settings.builtin_tools != "auto":
        return settings.builtin_tools
    own = settings.tools or settings.tool_modules or has_servers
    return not own or any(each.builtin_tools for each in settings.gateway.profiles.values())


def _makers(
    settings: Settings, functions: FunctionSource, *, builtin: bool
) -> Iterator[Callable[[], Source]]:
    """Each loads what its source needs: most settings name few kinds."""
    if builtin:
        from toolcrib.sources.builtin_tools import builtin_tools  # noqa: PLC0415

        yield partial(builtin_tools, settings)
    if settings.tools or settings.tool_modules:
        yield lambda: functions
    if settings.skills:
        from toolcrib.sources.skills import SkillSource  # noqa: PLC0415

        yield from (partial(SkillSource, path) for path in settings.skills)
    if settings.agents:
        from toolcrib.sources.agents import AgentSource  # noqa: PLC0415

        yield from (partial(AgentSource, path) for path in settings.agents)


def _declare_all(settings: Settings, functions: FunctionSource) -> Iterator[str]:
    """Read the files, then the modules that hold what they describe. Returns what went wrong."""
    if not (settings.tools or settings.tool_modules):
        return
    from toolcrib.sources.modules import add_module  # noqa: PLC0415 - as in `_makers`
    from toolcrib.sources.tools_yaml import declare_tools  # noqa: PLC0415

    steps = [
        *(partial(declare_tools, functions, path) for path in settings.tools),
        *(partial(add_module, functions, reference) for reference in settings.tool_modules),
    ]
    for step in steps:
        try:
            step()
        except ToolcribError as error:
            yield str(error)
