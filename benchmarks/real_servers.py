"""Servers of other people, from npm and PyPI, and what each of them is asked.

All run without a network. What they are asked is the same whoever asks: a thing to read and, where
they have one, a thing to do. `{turn}` in an argument stands for whose turn it is, so that
nobody finds what another has left.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts import install_more_servers as more
from scripts import install_test_servers as few

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """A call to make. `varying` is a pattern for what is another at every call of the same."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    varying: str = ""


@dataclass(frozen=True, slots=True)
class RealServer:
    """A server, by the name it has in the file, and what it is asked."""

    name: str
    package: str
    version: str
    entry: Entry
    asks: tuple[Ask, ...]


@dataclass(frozen=True, slots=True)
class Ground:
    """What the servers are let near: a folder, a repository, a page of the web."""

    folder: Path
    repository: Path
    page: str


def filled(arguments: Mapping[str, Any], turn: str) -> dict[str, Any]:
    """The arguments for whose turn it is."""
    return json.loads(json.dumps(arguments).replace("{turn}", turn))


def real_servers(ground: Ground, *, large: bool) -> list[RealServer]:
    """Those that are installed here; with `large`, those too that take much room."""
    made = [*_few(ground), *_more(ground), *(_large(ground) if large else ())]
    return sorted(made, key=lambda each: each.package.rpartition("/")[2])


def _few(ground: Ground) -> list[RealServer]:
    entries = few.servers(few.FOLDER, ground.folder)
    folder, repository = str(ground.folder), str(ground.repository)
    person = {"name": "{turn}", "entityType": "person", "observations": ["is here"]}
    asks: dict[str, tuple[str, tuple[Ask, ...]]] = {
        "everything": ("everything", (Ask("echo", {"message": "hello"}), Ask("get-tiny-image"))),
        "filesystem": (
            "filesystem",
            (
                Ask("read_text_file", {"path": f"{folder}/note.txt"}),
                Ask("read_text_file", {"path": f"{folder}/long.txt"}),
                Ask("write_file", {"path": f"{folder}/{{turn}}.txt", "content": "{turn}"}),
            ),
        ),
        "memory": (
            "memory",
            (
                Ask("create_entities", {"entities": [person]}),
                Ask("open_nodes", {"names": ["{turn}"]}),
            ),
        ),
        "git": (
            "mcp-server-git",
            (
                Ask("git_log", {"repo_path": repository}),
                Ask("git_create_branch", {"repo_path": repository, "branch_name": "{turn}"}),
            ),
        ),
        "time": (
            "mcp-server-time",
            (
                Ask(
                    "convert_time",
                    {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
                ),
            ),
        ),
        "budget": ("budget-allocator", (Ask("get-budget-data"),)),
        "cohorts": ("cohort-heatmap", (Ask("get-cohort-data", varying=r"\d+"),)),
        "customers": ("customer-segmentation", (Ask("get-customer-data", varying=r"\w[\w .-]*"),)),
        "eslint": ("@eslint/mcp", (Ask("lint-files", {"filePaths": [f"{folder}/tidy.js"]}),)),
        "postgrest": (
            "@supabase/mcp-server-postgrest",
            (Ask("sqlToRest", {"sql": "select * from books"}),),
        ),
        "scenarios": ("scenario-modeler", (Ask("get-scenario-data"),)),
        "system": ("system-monitor", (Ask("get-system-info"),)),
    }
    every = few.NPM | few.PYPI
    return [
        RealServer(name, package, every[package].removeprefix("=="), entries[name], asked)
        for name, (short, asked) in asks.items()
        for package in [short if short in every else f"@modelcontextprotocol/server-{short}"]
    ]


@dataclass(frozen=True, slots=True)
class _Installed:
    """What lies in a folder, as servers."""

    folder: Path

    def npm(
        self, name: str, package: str, *asks: Ask, args: tuple[str, ...] = (), **others: object
    ) -> RealServer:
        command, *words = more.npm_command(self.folder / "npm", package, *args)
        return self._server(name, package, {"command": command, "args": words, **others}, asks)

    def pypi(
        self,
        name: str,
        package: str,
        *asks: Ask,
        args: tuple[str, ...] = (),
        place: str = "pypi",
        script: str = "",
        **others: object,
    ) -> RealServer:
        command = str(self.folder / place / "bin" / (script or package))
        return self._server(name, package, {"command": command, "args": [*args], **others}, asks)

    @staticmethod
    def _server(name: str, package: str, entry: Entry, asks: tuple[Ask, ...]) -> RealServer:
        return RealServer(name, package, more.version(package), entry, asks)


def _more(ground: Ground) -> list[RealServer]:
    installed, folder = _Installed(more.FOLDER), str(ground.folder)
    repository = str(ground.repository)
    thought = {"thought": "a thought", "thoughtNumber": 1, "totalThoughts": 1}
    book, paper = f"{folder}/{{turn}}.xlsx", f"{folder}/{{turn}}.docx"
    return [
        installed.npm(
            "commands",
            "@agent-infra/mcp-server-commands",
            Ask("run_command", {"command": "echo hello"}),
        ),
        installed.npm(
            "cyangit",
            "@cyanheads/git-mcp-server",
            Ask("git_status", {"path": repository}),
            Ask("git_tag", {"path": repository, "mode": "create", "tagName": "{turn}"}),
            env={"GIT_SIGN_COMMITS": "false"},
        ),
        installed.npm(
            "debug",
            "@modelcontextprotocol/server-debug",
            Ask("debug-tool", varying=r"\d+"),
            args=("--stdio",),
        ),
        installed.npm(
            "pdf",
            "@modelcontextprotocol/server-pdf",
            Ask("list_pdfs"),
            Ask("read_pdf_bytes", {"url": f"{folder}/paper.pdf"}),
            args=("--stdio", f"{folder}/paper.pdf"),
        ),
        installed.npm(
            "thinking",
            "@modelcontextprotocol/server-sequential-thinking",
            Ask("sequentialthinking", {**thought, "nextThoughtNeeded": False}, r"History\D*\d+"),
        ),
        installed.npm(
            "playwright",
            "@playwright/mcp",
            Ask("browser_navigate", {"url": ground.page}, r"page-[-\w]+\.yml"),
            Ask("browser_snapshot", varying=r"ref=\w+"),
            args=_browser("--executable-path", "--headless", "--isolated", "--no-sandbox"),
            cwd=folder,
        ),
        installed.npm(
            "devtools",
            "chrome-devtools-mcp",
            Ask("list_pages"),
            args=_browser(
                "--executablePath",
                "--headless",
                "--isolated",
                "--no-usage-statistics",
                "--chromeArg=--no-sandbox",
            ),
        ),
        installed.npm(
            "graphql", "mcp-graphql", Ask("introspect-schema"), env={"ENDPOINT": ground.page}
        ),
        installed.npm(
            "shrimp",
            "mcp-shrimp-task-manager",
            Ask("list_tasks", {"status": "all"}),
            env={"DATA_DIR": f"{folder}/tasks"},
        ),
        installed.pypi(
            "excel",
            "excel-mcp-server",
            Ask("create_workbook", {"path": book}),
            Ask("write_range", {"path": book, "sheet": "Sheet1", "at": "A1", "rows": [["a", 1]]}),
            Ask("read_range", {"path": book, "sheet": "Sheet1"}),
            args=("stdio",),
        ),
        installed.pypi(
            "fetch",
            "mcp-server-fetch",
            Ask("fetch", {"url": ground.page}),
            args=("--allow-private-ips",),
        ),
        installed.pypi(
            "word",
            "office-word-mcp-server",
            Ask("create_document", {"filename": paper, "title": "A paper"}),
            Ask("add_paragraph", {"filename": paper, "text": "A sentence."}),
            Ask("get_document_text", {"filename": paper}),
            script="word_mcp_server",
        ),
        installed.pypi(
            "sqlite",
            "mcp-server-sqlite",
            Ask("create_table", {"query": "CREATE TABLE {turn} (a INTEGER)"}),
            Ask("write_query", {"query": "INSERT INTO {turn} VALUES (1)"}),
            Ask("read_query", {"query": "SELECT * FROM {turn}"}),
            args=("--db-path", f"{folder}/test.db"),
            place="old",
        ),
    ]


def _large(ground: Ground) -> list[RealServer]:
    installed, folder = _Installed(more.FOLDER / "large"), str(ground.folder)
    node = {"node": {"label": "Person", "key_property": {"name": "id", "type": "STRING"}}}
    return [
        installed.npm("kazuph", "@kazuph/mcp-fetch", Ask("imageFetch", {"url": ground.page})),
        installed.npm(
            "threejs",
            "@modelcontextprotocol/server-threejs",
            Ask("learn_threejs"),
            args=("--stdio",),
        ),
        installed.npm(
            "negokaz",
            "@negokaz/excel-mcp-server",
            Ask("excel_describe_sheets", {"fileAbsolutePath": f"{folder}/book.xlsx"}),
            Ask(
                "excel_read_sheet",
                {"fileAbsolutePath": f"{folder}/book.xlsx", "sheetName": "Sheet1"},
            ),
        ),
        installed.npm(
            "sylphx",
            "@sylphx/pdf-reader-mcp",
            Ask("read_pdf", {"sources": [{"path": "paper.pdf"}], "include_full_text": True}),
            cwd=folder,
        ),
        installed.npm(
            "kubernetes",
            "mcp-server-kubernetes",
            Ask("ping"),
            Ask("kubectl_get", {"resourceType": "pods"}, r"\d+"),
        ),
        installed.npm(
            "repomix",
            "repomix",
            Ask(
                "pack_codebase",
                {"directory": str(ground.repository)},
                r"[0-9a-f]{16}|/[^\"\\]*repomix[^\"\\]*",
            ),
            args=("--mcp",),
        ),
        installed.pypi(
            "neo4j",
            "mcp-neo4j-data-modeling",
            Ask("list_example_data_models"),
            Ask("validate_node", node),
        ),
        installed.pypi(
            "duckdb",
            "mcp-server-duckdb",
            Ask("query", {"query": "SELECT 6 * 7 AS answer"}),
            args=("--db-path", f"{folder}/test.duckdb"),
            place="old",
        ),
        installed.pypi(
            "treesitter",
            "mcp-server-tree-sitter",
            Ask("list_projects_tool"),
            place="old",
        ),
    ]


def _browser(option: str, *others: str) -> tuple[str, ...]:
    """With the browser of this machine. Without one the call fails, directly as well."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    return (option, found, *others) if found else others
