"""The first hour of a user: five servers of Claude Desktop become Toolcrib's, and everything works.

    python -m benchmarks.journey [--setup]

In an empty home, with the servers' packages in npm's cache: `toolcrib import --yes`, or `toolcrib
setup --yes`. Then what now stands in Claude Desktop's file is started by a client of each era of
the protocol, and by codex and opencode where `make clients` has installed them; each calls a tool
that reads and one that writes, of every server. Prints what each step took, and what lay between
nothing and the first answer. Exit code 1: something was not answered.
"""

import asyncio
import json
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from mcp import Client, StdioServerParameters

from benchmarks import hosts
from benchmarks.home import Home
from benchmarks.playground import playground, repository
from benchmarks.real_servers import filled
from benchmarks.servers import ERAS
from scripts import install_more_servers as more
from scripts import install_test_clients
from scripts import install_test_servers as few
from scripts.npm import npx
from toolcrib.testing import CallTool, Say, ScriptedModel

CLAUDE = Path(".config", "Claude", "claude_desktop_config.json")
CODEX = Path(".codex", "config.toml")
OPENCODE = Path(".config", "opencode", "opencode.json")
NPM = {
    "filesystem": "@modelcontextprotocol/server-filesystem",
    "memory": "@modelcontextprotocol/server-memory",
    "commands": "@agent-infra/mcp-server-commands",
}


@dataclass(frozen=True, slots=True)
class Errand:
    """A tool of a server, whether it says that it only reads, and words of its answer."""

    server: str
    tool: str
    words: str
    arguments: Mapping[str, Any]
    reads: bool = False

    @property
    def name(self) -> str:
        return f"mcp_{self.server}_{self.tool}"

    def by_door(self, turn: str) -> tuple[str, dict[str, Any]]:
        """The call, by the gateway's own tools."""
        arguments = {"name": self.name, "arguments": filled(self.arguments, turn)}
        return "tool_call_read" if self.reads else "tool_call", arguments


@dataclass(slots=True)
class Journey:
    """A user's home with five servers, and how long each step has taken, in seconds."""

    home: Home
    ground: Path
    repository: Path
    tell: Callable[[str], None]
    steps: dict[str, float] = field(default_factory=dict[str, float])
    first_answer: float = 0.0

    @contextmanager
    def step(self, name: str) -> Generator[None]:
        started = perf_counter()
        yield
        self.steps[name] = perf_counter() - started
        self.tell(f"{self.steps[name]:6.1f} s  {name}")

    def servers(self) -> dict[str, Any]:
        """As the file of a client has them: three of npm by npx, two of PyPI."""
        words = {"filesystem": [str(self.ground)], "memory": [], "commands": []}
        program, *first = npx(more.NODE)
        pinned = few.NPM | more.NPM
        npm: dict[str, dict[str, Any]] = {
            name: {
                "command": program,
                "args": [*first, "-y", f"{each}@{pinned[each]}", *words[name]],
            }
            for name, each in NPM.items()
        }
        npm["memory"]["env"] = {"MEMORY_FILE_PATH": str(self.ground / "memory.json")}
        sqlite = str(more.FOLDER / "old" / "bin" / "mcp-server-sqlite")
        database = ["--db-path", str(self.ground / "test.db")]
        return {
            **npm,
            "git": {"command": str(few.FOLDER / "pypi" / "bin" / "mcp-server-git"), "args": []},
            "sqlite": {"command": sqlite, "args": database},
        }

    def errands(self) -> list[Errand]:
        """What every client is asked to do."""
        person = {"name": "{turn}", "entityType": "person", "observations": ["is here"]}
        file, repo = f"{self.ground}/{{turn}}.txt", str(self.repository)
        branch = {"repo_path": repo, "branch_name": "{turn}"}
        script = {"interpreter": "sh", "script": "echo there"}
        return [
            Errand("filesystem", "write_file", "wrote", {"path": file, "content": "{turn}"}),
            Errand("filesystem", "read_text_file", "{turn}", {"path": file}, reads=True),
            Errand("memory", "create_entities", "{turn}", {"entities": [person]}),
            Errand("memory", "open_nodes", "is here", {"names": ["{turn}"]}, reads=True),
            Errand("commands", "run_command", "hello", {"command": "echo hello"}),
            Errand("commands", "run_script", "there", script),
            Errand("git", "git_status", "On branch", {"repo_path": repo}, reads=True),
            Errand("git", "git_create_branch", "{turn}", branch),
            Errand("sqlite", "create_table", "created", {"query": "CREATE TABLE {turn} (a)"}),
            Errand("sqlite", "read_query", "[]", {"query": "SELECT * FROM {turn}"}),
        ]

    def missing(self, turn: str, answers: Sequence[str]) -> list[str]:
        """The errands that were not answered as they should."""
        pairs = zip(self.errands(), answers, strict=True)
        wrong = [
            (errand, said)
            for errand, said in pairs
            if errand.words.replace("{turn}", turn) not in said
        ]
        return [f"{turn}: {errand.name}: {said[:400]}" for errand, said in wrong]


def install() -> Path:
    """Install the servers where they are not; the cache of npm's in which npx finds its own."""
    few.install()
    more.install()
    pinned = few.NPM | more.NPM
    return more.cache_for_npx({name: pinned[name] for name in NPM.values()})


@contextmanager
def begun(folder: Path, tell: Callable[[str], None] = print) -> Generator[Journey]:
    """A home in which nothing has happened yet; whatever runs there is stopped in the end."""
    cache, home = install(), folder / "home"
    home.mkdir()
    (home / ".npmrc").write_text(f"cache={cache}\noffline=true\nupdate-notifier=false\n")
    journey = Journey(Home(home), playground(folder), repository(folder), tell)
    _write(home / CLAUDE, json.dumps({"mcpServers": journey.servers()}, indent=2))
    try:
        yield journey
    finally:
        journey.home.stop()


def travel(journey: Journey, command: str = "import", *, to_hosts: bool = True) -> list[str]:
    """The journey, to its end or as far as the clients of both eras; what went wrong on it."""
    with (
        ScriptedModel(_for_codex(journey)) as codex,
        ScriptedModel(_for_opencode(journey)) as opencode,
    ):
        _configure_hosts(journey, codex.url, opencode.url)
        wrong = _to_clients(journey, command)
        if to_hosts:
            wrong += _to_hosts(journey, codex, opencode)
    return wrong


def _configure_hosts(journey: Journey, codex: str, opencode: str) -> None:
    """Each has one of the five servers too, and its model at this address."""
    folder, entry = journey.home.folder, journey.servers()["git"]
    program, arguments = json.dumps(entry["command"]), json.dumps(entry["args"])
    table = f"\n[mcp_servers.git]\ncommand = {program}\nargs = {arguments}\n"
    _write(folder / CODEX, hosts.CODEX.format(url=codex) + table)
    local = {"git": {"type": "local", "command": [entry["command"]], "enabled": True}}
    _write(folder / OPENCODE, json.dumps(hosts.opencode(opencode, local)))


def _to_clients(journey: Journey, command: str) -> list[str]:
    started, wrong = perf_counter(), list[str]()
    with journey.step(f"toolcrib {command} --yes"):
        journey.home.run(command, "--yes")
    for era, mode in reversed(ERAS.items()):
        turn = "modern" if mode == era else mode
        with journey.step(f"a client of {era} calls {len(journey.errands())} tools of 5 servers"):
            answers = asyncio.run(_by_sdk(journey, mode, turn, started))
        wrong += journey.missing(turn, answers)
    return wrong


def _to_hosts(journey: Journey, codex: ScriptedModel, opencode: ScriptedModel) -> list[str]:
    with journey.step("codex does the same"):
        hosts.run_codex(journey.home.folder, "--dangerously-bypass-approvals-and-sandbox")
    wrong = journey.missing("codex", hosts.results_of_codex(codex))
    with journey.step("opencode does the same"):
        hosts.run_opencode(journey.home.folder)
    return wrong + journey.missing("opencode", hosts.results_of_opencode(opencode))


def _for_codex(journey: Journey) -> list[CallTool | Say]:
    """What its model does: codex shows it every tool of so few, by its name."""
    errands = journey.errands()
    calls = [CallTool(each.name, filled(each.arguments, "codex")) for each in errands]
    return [*calls, Say(hosts.OVER)]


def _for_opencode(journey: Journey) -> list[CallTool | Say]:
    """What its model does: opencode shows it the five tools of the gateway."""
    calls = [errand.by_door("opencode") for errand in journey.errands()]
    return [*(CallTool(f"toolcrib_{name}", given) for name, given in calls), Say(hosts.OVER)]


async def _by_sdk(journey: Journey, mode: str, turn: str, started: float) -> list[str]:
    """What a client is answered that starts what stands in Claude Desktop's file."""
    [entry] = json.loads((journey.home.folder / CLAUDE).read_text())["mcpServers"].values()
    program = StdioServerParameters(
        command=entry["command"],
        args=entry["args"],
        env={**journey.home.env, **entry.get("env", {})},
    )
    answers: list[str] = []
    async with Client(program, mode=mode) as client:
        for errand in journey.errands():
            said = await client.call_tool(*errand.by_door(turn))
            if not journey.first_answer:
                journey.first_answer = perf_counter() - started
                journey.tell(f"{journey.first_answer:6.1f} s  from nothing to the first answer")
            answers.append("\n".join(each.text for each in said.content if each.type == "text"))
    return answers


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = ArgumentParser(prog="python -m benchmarks.journey", description=__doc__)
    parser.add_argument("--setup", action="store_true", help="by the guided command")
    said = parser.parse_args(arguments)
    command, to_hosts = "setup" if said.setup else "import", install_test_clients.installed()
    with tempfile.TemporaryDirectory() as folder, begun(Path(folder)) as journey:
        wrong = travel(journey, command, to_hosts=to_hosts)
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
