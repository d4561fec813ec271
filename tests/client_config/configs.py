"""A file for each client, as somebody might have it after a year: comments, other settings, several
servers, one that cannot be taken over."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from toolcrib.client_config import client_named
from toolcrib.client_config.document import read_document, table_at
from toolcrib.settings import own_servers_file


class Config(NamedTuple):
    """A text, where it stands from the home folder, and what is in it."""

    file: str
    text: str
    taken: tuple[str, ...]
    left: tuple[str, ...] = ()


CLAUDE_DESKTOP = """\
{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/docs"]
    },
    "weather": {
      "command": "uvx",
      "args": ["mcp-weather"],
      "env": { "WEATHER_API_KEY": "s3cret-weather" }
    },
    "odd": {
      "command": "odd",
      "env": { "TEMPLATE": "${NOT_A_VARIABLE}" }
    }
  },
  "preferences": { "menuBarEnabled": false }
}
"""

CLAUDE_CODE = """\
{
\t"numStartups": 41,
\t"tipsHistory": {"shift-enter": 12},
\t"mcpServers": {
\t\t"tickets": {
\t\t\t"type": "http", "url": "https://tickets.example/mcp",
\t\t\t"headers": {"Authorization": "Bearer ${TICKETS_TOKEN}"}
\t\t},
\t\t"stream": {"type": "sse", "url": "https://stream.example/sse"},
\t\t"socket": {"type": "ws", "url": "wss://socket.example"},
\t\t"files": {"type": "stdio", "command": "npx", "args": ["-y", "files-server"], "env": {}}
\t},
\t"projects": {
\t\t"/srv/app": {"allowedTools": [], "mcpServers": {"local": {"type": "stdio", "command": "x"}}}
\t}
}
"""

CURSOR = """\
{
  "mcpServers": {
    "browser": {
      "command": "npx",
      "args": ["@playwright/mcp@latest"]
    },
    "tickets": {
      "url": "https://tickets.example/mcp",
      "headers": { "X-Api-Key": "${env:TICKETS_KEY}" }
    },
    "home": { "command": "node", "args": ["${userHome}/servers/home.js"] },
    "here": { "command": "node", "args": ["${workspaceFolder}/server.js"] }
  }
}
"""

VSCODE = """\
{
\t// asked for once, then kept
\t"inputs": [
\t\t{ "type": "promptString", "id": "key", "description": "API key", "password": true },
\t],
\t"servers": {
\t\t/* the two that everybody has */
\t\t"github": { "type": "http", "url": "https://api.example/mcp/" },
\t\t"memory": {
\t\t\t"type": "stdio",
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "memory-server"], // pinned elsewhere
\t\t\t"env": { "MEMORY_FILE": "${userHome}/memory.json" },
\t\t},
\t\t"perplexity": {
\t\t\t"command": "npx",
\t\t\t"args": ["-y", "perplexity"],
\t\t\t"env": { "KEY": "${input:key}" },
\t\t},
\t},
}
"""

CODEX = """\
model = "gpt-6"  # the large one
approval_policy = "on-request"

[tui]
notifications = ["agent-turn-complete", "# no comment"]

# documents
[mcp_servers.docs]
command = "npx"
args = [
  "-y",
  "docs-server",  # [mcp_servers.not_a_header]
]
env_vars = ["DOCS_TOKEN"]

[mcp_servers.docs.env]
DOCS_MODE = "fast"
DOCS_KEY = "s3cret-docs"

[mcp_servers.figma]
url = "https://figma.example/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Region" = "eu" }
tool_timeout_sec = 120
enabled = false

[mcp_servers."fenced in"]
command = "fenced"
experimental_environment = "remote"

[profiles.fast]
model = "gpt-6-mini"
"""

OPENCODE = """\
{
  "$schema": "https://opencode.ai/config.json",
  // both keyboards
  "keybinds": { "leader": "ctrl+x" },
  "mcp": {
    "search": {
      "type": "local",
      "command": ["bun", "x", "search-server"],
      "enabled": false,
      "environment": { "SEARCH_KEY": "{env:SEARCH_KEY}" },
    },
    "tickets": {
      "type": "remote",
      "url": "https://tickets.example/mcp",
      "headers": { "Authorization": "Bearer {env:TICKETS_TOKEN}" },
    },
    "from-work": { "enabled": true },
  },
}
"""

WINDSURF = """\
{
  "mcpServers": {
    "github": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "ghcr.io/github/github-mcp-server"],
      "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "s3cret-github"},
      "disabled": true
    },
    "remote": {"serverUrl": "https://remote.example/mcp"},
    "old": {"serverUrl": "https://old.example/sse"},
    "filled": {"command": "x", "args": ["${env:HOME}"]},
    "fewer": {"command": "fewer", "disabledTools": ["delete"]}
  }
}
"""

GEMINI_CLI = """\
{
  "theme": "Dracula", // at night
  "mcp": { "allowed": ["python", "remote", "events", "vendor", "toolcrib"] },
  "mcpServers": {
    "python": {
      "command": "python",
      "args": ["-m", "my_server"],
      "cwd": "/srv/tools",
      "env": { "API_KEY": "$MY_API_KEY", "MODE": "${MODE}" },
      "timeout": 15000,
      "trust": true
    },
    "remote": { "httpUrl": "https://remote.example/mcp", "headers": { "X-Key": "${KEY}" } },
    "events": { "url": "https://events.example/stream" },
    "vendor": { "command": "x", "oauth": { "enabled": true } }
  }
}
"""

ZED = """\
// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    // started by Zed
    "files": {
      "source": "custom",
      "command": "npx",
      "args": ["-y", "files-server"],
      "env": {}
    },
    "notes": { "source": "custom", "url": "https://notes.example/mcp", "enabled": false },
    "older": { "command": { "path": "older", "args": ["serve"], "env": { "A": "b" } } },
    "postgres": { "source": "extension", "settings": { "url": "postgresql://me:s3cret@db" } },
  },
  "vim_mode": true,
}
"""

CONFIGS: Mapping[str, Config] = {
    "claude-desktop": Config(
        ".config/Claude/claude_desktop_config.json", CLAUDE_DESKTOP, ("files", "weather"), ("odd",)
    ),
    "claude-code": Config(".claude.json", CLAUDE_CODE, ("tickets", "stream", "files"), ("socket",)),
    "cursor": Config(".cursor/mcp.json", CURSOR, ("browser", "tickets", "home"), ("here",)),
    "vscode": Config(".config/Code/User/mcp.json", VSCODE, ("github", "memory"), ("perplexity",)),
    "codex": Config(".codex/config.toml", CODEX, ("docs", "figma"), ("fenced in",)),
    "opencode": Config(
        ".config/opencode/opencode.jsonc", OPENCODE, ("search", "tickets"), ("from-work",)
    ),
    "windsurf": Config(
        ".codeium/windsurf/mcp_config.json",
        WINDSURF,
        ("github", "remote", "old", "fewer"),
        ("filled",),
    ),
    "gemini-cli": Config(
        ".gemini/settings.json", GEMINI_CLI, ("python", "remote", "events"), ("vendor",)
    ),
    "zed": Config(".config/zed/settings.json", ZED, ("files", "notes", "older"), ("postgres",)),
}
SECRETS = ("s3cret-weather", "s3cret-docs", "s3cret-github", "s3cret")

every_client = pytest.mark.parametrize("name", list(CONFIGS))


def put(home: Path, name: str) -> Path:
    path = home / CONFIGS[name].file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(CONFIGS[name].text.encode())
    return path


def entries(name: str, path: Path) -> Any:
    client = client_named(name)
    document = read_document(path.read_text(), client.syntax)
    return table_at(document, client.layout(document).path)


def ours() -> Any:
    return json.loads(own_servers_file().read_text())["mcpServers"]
