"""Where capabilities come from. A source lists them, tells their state, and calls one.

    settings ──> sources_from_settings ──> Source, Source, ... ──> the pool
                                             │ capabilities()   what there is now
                                             │ state(name)      ready, asleep, needs login ...
                                             └ call(call)       an Outcome, by the deadline

    protocol          `Source`, and what some promise besides: to be watched, warmed up, kept,
                      or to tell what changed
    settings_sources  every source that the settings name; one that fails costs no other
    function_source   Python functions in this process
    function          a typed function becomes a tool: `signature` its schema, `docstring` its text
    modules           whole Python modules whose functions are tools
    tools_yaml        tools.yaml: how declared tools appear
    builtin_tools     the tools that come with Toolcrib, in the folders that a caller may touch
    file_source       capabilities that are files: `skills` and `agents`
    plugins           what installed packages contribute
    mcp/              MCP servers
    apps/             programs that register tools of their own
    definition        a tool as a stranger defines it: pin, hidden text, permission kind
    declaration_file  YAML and front matter that people write; every mistake has a line
    text_file         the text of such a file

A source names its capabilities as it likes: the names that models see are the pool's business. It
decides nothing either. Whether a call may be made is settled in `toolcrib.execute` before a source
hears of it, and what changed since it was approved is for `toolcrib.review` to show.

To add a kind of source, write a class that keeps the protocol, and run `tests/contracts` on it.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.sources.declaration_file import parse_yaml
    from toolcrib.sources.definition import Definition, permission_from
    from toolcrib.sources.function import ToolFacts, tool
    from toolcrib.sources.function_call import injecting, injecting_context
    from toolcrib.sources.function_source import FunctionSource
    from toolcrib.sources.modules import add_module, public_functions
    from toolcrib.sources.protocol import (
        IncrementalSource,
        SleepingSource,
        Source,
        StampedSource,
        WatchableSource,
    )
    from toolcrib.sources.settings_sources import SettingsSources, sources_from_settings
    from toolcrib.sources.signature import injection
    from toolcrib.sources.skills import read_skill_file, skill_files
    from toolcrib.sources.text_file import read_text_file
    from toolcrib.sources.tools_yaml import declare_tools
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "declaration_file": ("parse_yaml",),
            "definition": ("Definition", "permission_from"),
            "function": ("ToolFacts", "tool"),
            "function_call": ("injecting", "injecting_context"),
            "function_source": ("FunctionSource",),
            "modules": ("add_module", "public_functions"),
            "protocol": (
                "IncrementalSource",
                "SleepingSource",
                "Source",
                "StampedSource",
                "WatchableSource",
            ),
            "settings_sources": ("SettingsSources", "sources_from_settings"),
            "signature": ("injection",),
            "skills": ("read_skill_file", "skill_files"),
            "text_file": ("read_text_file",),
            "tools_yaml": ("declare_tools",),
        },
    )
