"""The clients, one table: where each keeps its servers, and how it writes one down.

The facts are those of the clients' own documentation on the day that `CHECKED` says; what that does
not say, or says in two ways, stands in `unconfirmed` and on the page docs/guide/clients.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.client_config.document import Syntax
from toolcrib.client_config.entry_format import (
    BRACE_REFERENCES,
    EDITOR_REFERENCES,
    GEMINI_REFERENCES,
    NO_REFERENCES,
    SHELL_REFERENCES,
    EntryFormat,
)
from toolcrib.client_config.files import FileLocation, Machine, Platform
from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject
from toolcrib.text import nearest_names

CHECKED = "2026-11-15"


@dataclass(frozen=True)
class Layout:
    """The key that the servers stand under, and the format of each entry."""

    path: tuple[str, ...]
    format: EntryFormat


@dataclass(frozen=True)
class Client:
    """One client. The first of `layouts` is written where a file has none of them yet.

    `project` are files within a project's folder. `relaxed` is whether the client reads comments
    and trailing commas; None: not documented. `shim` has more keys for the entry of the shim.
    `reload` is what makes the client read its file again. `allowed` and `excluded` are the lists of
    names by which a client lets in some servers of its file, or keeps some out.
    """

    name: str
    title: str
    files: Mapping[Platform, tuple[FileLocation, ...]]
    layouts: tuple[Layout, ...]
    reload: str
    source: str
    project: tuple[str, ...] = ()
    syntax: Syntax = "json"
    relaxed: bool | None = False
    shim: Mapping[str, Json] = field(default_factory=dict[str, Json])
    allowed: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()

    def paths(self, machine: Machine) -> list[Path]:
        """The files that hold the user's servers: those that are there, or the one to make."""
        paths = [machine.path(place) for place in self.files[machine.platform]]
        return [path for path in paths if path.is_file()] or paths[:1]

    def layout(self, document: JsonObject) -> Layout:
        """How the servers stand in this document. Raises `ConfigError`."""
        for layout in self.layouts[1:]:
            if _is_table(document, layout.path):
                return layout
        return self.layouts[0]

    def lets_in(self, document: JsonObject, name: str) -> bool:
        """Whether the lists of the document let a server of this name be used."""
        allowed, excluded = _names(document, self.allowed), _names(document, self.excluded)
        return (allowed is None or name in allowed) and name not in (excluded or ())


def _names(document: JsonObject, path: tuple[str, ...]) -> Sequence[Json] | None:
    """The list at the path; None where there is none."""
    value = _value_at(document, path)
    return value if path and isinstance(value, list) else None


def _is_table(document: JsonObject, path: tuple[str, ...]) -> bool:
    """Whether there is an object of entries at the path, and not one entry."""
    value = _value_at(document, path)
    return isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values())


def _value_at(document: JsonObject, path: tuple[str, ...]) -> Json:
    value: Json = document
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _everywhere(*places: FileLocation) -> Mapping[Platform, tuple[FileLocation, ...]]:
    return {"linux": places, "macos": places, "windows": places}


def _opencode(off: tuple[str, bool]) -> EntryFormat:
    """The second version reads what the first one wrote, and has `disabled` for `enabled`."""
    return EntryFormat(
        BRACE_REFERENCES,
        one_list=True,
        env="environment",
        cwd=True,
        types=("local", "remote"),
        off=off,
        narrowing=frozenset({"oauth"}),
    )


_EDITOR_KEYS = frozenset({"envFile", "sandboxEnabled", "sandbox", "auth", "oauth"})

CLIENTS: tuple[Client, ...] = (
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        files={
            "linux": (FileLocation("xdg", "Claude/claude_desktop_config.json"),),
            "macos": (FileLocation("library", "Claude/claude_desktop_config.json"),),
            "windows": (FileLocation("roaming", "Claude/claude_desktop_config.json"),),
        },
        layouts=(Layout(("mcpServers",), EntryFormat(NO_REFERENCES, remote=False)),),
        reload="quit the application, not only its window, and start it again",
        source="https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        unconfirmed=("the place on Linux, where there is no official build",),
    ),
    Client(
        name="claude-code",
        title="Claude Code",
        files=_everywhere(FileLocation("claude", ".claude.json")),
        project=(".mcp.json",),
        layouts=(Layout(("mcpServers",), EntryFormat(SHELL_REFERENCES, types=("stdio", "http"))),),
        reload="start a new session; it writes this file itself, so end it before an import",
        source="https://code.claude.com/docs/en/mcp",
        unconfirmed=("that CLAUDE_CONFIG_DIR moves the file in every version",),
    ),
    Client(
        name="cursor",
        title="Cursor",
        files=_everywhere(FileLocation("home", ".cursor/mcp.json")),
        project=(".cursor/mcp.json",),
        layouts=(Layout(("mcpServers",), EntryFormat(EDITOR_REFERENCES, narrowing=_EDITOR_KEYS)),),
        reload="restart Cursor, or switch the server off and on in its settings",
        source="https://cursor.com/docs/mcp",
        relaxed=None,
        unconfirmed=("whether comments and trailing commas are read",),
    ),
    Client(
        name="vscode",
        title="VS Code",
        files={
            "linux": (FileLocation("xdg", "Code/User/mcp.json"),),
            "macos": (FileLocation("library", "Code/User/mcp.json"),),
            "windows": (FileLocation("roaming", "Code/User/mcp.json"),),
        },
        project=(".vscode/mcp.json",),
        layouts=(
            Layout(
                ("servers",),
                EntryFormat(
                    EDITOR_REFERENCES, cwd=True, types=("stdio", "http"), narrowing=_EDITOR_KEYS
                ),
            ),
        ),
        reload="run `MCP: List Servers`, choose toolcrib, start it",
        source="https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
        relaxed=True,
    ),
    Client(
        name="codex",
        title="Codex",
        files=_everywhere(FileLocation("codex", "config.toml")),
        project=(".codex/config.toml",),
        syntax="toml",
        relaxed=True,
        layouts=(
            Layout(
                ("mcp_servers",),
                EntryFormat(
                    NO_REFERENCES,
                    speaks_sse=False,
                    env_names="env_vars",
                    headers="http_headers",
                    bearer="bearer_token_env_var",
                    env_headers="env_http_headers",
                    cwd=True,
                    off=("enabled", False),
                    enabled_tools="enabled_tools",
                    disabled_tools="disabled_tools",
                    narrowing=frozenset({"experimental_environment", "scopes"}),
                    times={
                        "startup_timeout_sec": ("start_timeout_s", 1),
                        "tool_timeout_sec": ("call_timeout_s", 1),
                    },
                ),
            ),
        ),
        shim={"required": True, "startup_timeout_sec": 60},
        reload="start a new session",
        source="https://developers.openai.com/codex/mcp",
    ),
    Client(
        name="opencode",
        title="opencode",
        files=_everywhere(
            FileLocation("xdg", "opencode/opencode.json"),
            FileLocation("xdg", "opencode/opencode.jsonc"),
        ),
        project=("opencode.json", "opencode.jsonc", ".opencode/opencode.json"),
        relaxed=True,
        layouts=(
            Layout(("mcp",), _opencode(("enabled", False))),
            Layout(("mcp", "servers"), _opencode(("disabled", True))),
        ),
        reload="start a new session",
        source="https://opencode.ai/docs/mcp-servers",
        unconfirmed=("the place on Windows, where some look below %APPDATA%",),
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        files=_everywhere(FileLocation("home", ".codeium/windsurf/mcp_config.json")),
        layouts=(
            Layout(
                ("mcpServers",),
                EntryFormat(
                    EDITOR_REFERENCES,
                    url="serverUrl",
                    off=("disabled", True),
                    disabled_tools="disabledTools",
                ),
            ),
        ),
        reload="press refresh in the list of MCP servers",
        source="https://docs.windsurf.com/windsurf/cascade/mcp",
        relaxed=None,
        unconfirmed=(
            "whether comments and trailing commas are read",
            "the spelling `${NAME}` of a variable, which some versions know beside `${env:NAME}`",
        ),
    ),
    Client(
        name="gemini-cli",
        title="Gemini CLI",
        files=_everywhere(FileLocation("home", ".gemini/settings.json")),
        project=(".gemini/settings.json",),
        relaxed=True,
        layouts=(
            Layout(
                ("mcpServers",),
                EntryFormat(
                    GEMINI_REFERENCES,
                    url="httpUrl",
                    sse="url",
                    cwd=True,
                    enabled_tools="includeTools",
                    disabled_tools="excludeTools",
                    narrowing=frozenset({"oauth", "authProviderType"}),
                    times={"timeout": ("call_timeout_s", 0.001)},
                ),
            ),
        ),
        reload="start a new session",
        source="https://geminicli.com/docs/tools/mcp-server",
        allowed=("mcp", "allowed"),
        excluded=("mcp", "excluded"),
        unconfirmed=("whether `url` without a `type` is always SSE, as its documentation says",),
    ),
    Client(
        name="zed",
        title="Zed",
        files={
            "linux": (FileLocation("xdg", "zed/settings.json"),),
            "macos": (FileLocation("home", ".config/zed/settings.json"),),
            "windows": (FileLocation("roaming", "Zed/settings.json"),),
        },
        project=(".zed/settings.json",),
        relaxed=True,
        layouts=(
            Layout(
                ("context_servers",),
                EntryFormat(NO_REFERENCES, fixed={"source": "custom"}, off=("enabled", False)),
            ),
        ),
        reload="nothing to do: Zed reads the file when it is saved",
        source="https://zed.dev/docs/ai/mcp",
        unconfirmed=(
            "since which version `source` may be left out",
            "whether context servers in a project's settings are read by every version",
        ),
    ),
)


def client_named(name: str) -> Client:
    """The client of this name. Raises `ConfigError` with the nearest names."""
    for client in CLIENTS:
        if client.name == name:
            return client
    names = [client.name for client in CLIENTS]
    near = ", ".join(nearest_names(name, names) or names)
    raise ConfigError(f"no client {name!r} is known here; nearest: {near}")
