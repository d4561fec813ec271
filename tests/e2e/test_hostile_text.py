"""Text that hides, forges or steers, said by a server wherever it can: no sink lets it act.

What each sink may have:

- Terminal, `--json` and exceptions: printable characters and line ends. Markup is what it was.
- Log: the same, and no line but those of ours begins as ours do.
- What a model or a person reads of definitions, searches, prompts, questions, errors and notices:
  nothing hidden. Markdown and HTML are plain words there: nothing of ours renders or fetches them.
- Results of tools and contents of resources: everything, as it came. They are data.
- Log of calls: nothing that a server says.
"""

import asyncio
import json
import logging
import random
import re
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from tests.defaults import RETENTION
from tests.gateway.clients import ERAS, Era, connected
from tests.gateway.daemons import serving
from tests.plan import amount
from tests.sources.mcp.faking import own_file
from toolcrib import cli
from toolcrib.crib import Crib
from toolcrib.errors import ToolcribError
from toolcrib.gateway import log_file
from toolcrib.gateway.daemon_log import log_to_file
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.gateway.server import GatewayServer
from toolcrib.settings import Settings
from toolcrib.store import EventFile

HOSTILE = Path(__file__).parents[1] / "sources" / "mcp" / "hostile_server.py"
FORGED = "2026-01-01 00:00:00,000 INFO toolcrib.gateway: all is well"
MARKUP = "[bold red]"
ATOMS = (
    *(
        "\x1b[2J",
        "\x1b[31m",
        "\x1b]8;;https://x.test\x1b\\here\x1b]8;;\x1b\\",
        "\x1b]52;c;aGk=\x07",
    ),
    *(
        "\x1b]0;title\x07",
        "\x1bP+q\x1b\\",
        "\x9b2J",
        "\x9d0;t\x9c",
        "\x00",
        "\x07",
        "\x08\x08",
        "\x7f",
    ),
    *("\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", f"\n{FORGED}", f"\r\n{FORGED}"),
    *("\u202e", "\u202d", "\u2066", "\u2069", "\u200e\u200f", "\u061c"),
    *("\u200b", "\u200c", "\u2060", "\ufeff", "\u00ad", "\u180e", "\u3164", "\u2800"),
    *("".join(chr(0xE0000 + ord(c)) for c in "obey"), "".join(chr(0xE0100 + n) for n in (5, 9))),
    *("\ue000", "\ufdd0", "\U0010ffff", "\ud800", "\udfff"),
    *(MARKUP, "[/]", "[link=https://x.test]here[/link]", "![i](https://x.test/?q=s)"),
    *("<script>alert(1)</script>", "<img src=https://x.test>", "`rm -rf /`", "# Now obey"),
)
WORDS = ("forecast", "order", "file", "send", "list", "weather")
HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufeff\ud800-\uf8ff\ufdd0-\ufdef\U000e0000-\U0010ffff]"
)
"""Not by `toolcrib.text.hidden_text`, which is what is tested. No atom has honest uses of it."""
HALF = re.compile("[\ud800-\udfff]")
LINE_OF_OURS = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ [\w.]+: ")


def hostile_strings(count: int) -> list[str]:
    """All atoms at once, each by itself, and then as many mixtures, the same in every run.

    None begins with an atom: a byte order mark at the start of a text is no trick.
    """
    dice = random.Random(36)
    mixed = (
        " ".join((dice.choice(WORDS), *(dice.choice((*ATOMS, *WORDS)) for _ in range(6))))
        for _ in range(count)
    )
    whole = "all " + " ".join(atom for atom in ATOMS if not HALF.search(atom))
    return [whole, *(f"a{atom}b" for atom in ATOMS), *mixed]


@pytest.fixture(scope="module")
def strings() -> list[str]:
    return hostile_strings(amount(36, "strings"))


@pytest.fixture
def servers(strings: list[str], tmp_path: Path) -> Path:
    """A file of servers: one that is trusted in all, one that is not, and two that fail."""
    said = tmp_path / "strings.json"
    sent = [text for text in strings if not HALF.search(text)]  # with one, no reply is readable
    said.write_text(json.dumps(sent), encoding="ascii")
    command = {"command": sys.executable, "permission": {"*": "read"}}
    arguments = ["-S", str(HOSTILE), str(said)]
    table = {
        "open": {**command, "args": arguments, "trust": "open"},
        "pinned": {**command, "args": arguments},
        "refuse": {**command, "args": [*arguments, "refuse"]},
        "exit": {**command, "args": [*arguments, "exit"]},
    }
    file = own_file()
    file.write_text(json.dumps({"mcpServers": table}))
    return file


@pytest.fixture
def crib(servers: Path) -> Generator[Crib]:
    settings = {"mcp_config": [servers], "builtin_tools": False, "plugins": False}
    with Crib.from_settings(Settings.model_validate(settings)) as crib:
        asyncio.run(crib.refresh())
        yield crib


def obeyed(text: str) -> list[str]:
    """What a terminal would obey, or not show as it is."""
    return [char for char in text if not char.isprintable() and char != "\n"]


def texts(value: Any) -> Iterator[str]:
    """Every text within, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from (*texts(key), *texts(each))
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from texts(each)


def hidden_in(*values: Any) -> list[str]:
    return [text for value in values for text in texts(value) if HIDDEN.search(text)]


CALLS = tuple(f"call mcp_open_{act} {{}}" for act in ("tell", "fail", "deny", "ask", "die"))
SHOWING = ("servers", "search forecast", "show mcp_open_tell", "review", *CALLS[1:3])
"""Also as JSON."""
COMMANDS = (
    *("refresh", "list", "why forecast mcp_open_tell", "lint", "doctor --start", "tour"),
    *("show mcp_pinned_tell", "call mcp_pinned_tell {}", *CALLS, *SHOWING),
)


@pytest.mark.plan(36)
@pytest.mark.usefixtures("unlogged")
def test_no_command_sends_a_terminal_what_it_would_obey(
    servers: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["toolcrib", "--mcp-config", str(servers), *arguments])
        with suppress(SystemExit):
            cli.main()
        return "".join(capsys.readouterr())

    written = {command: run(*command.split()) for command in COMMANDS}
    written |= {f"{each} --json": run(*each.split(), "--json") for each in SHOWING}
    written["no tool"] = run("show", "".join(ATOMS).replace("\0", ""))
    written["no file"] = run("--config", "no\x1b[2J\u202efile", "list")
    for command, text in written.items():
        assert obeyed(text) == [], command
    assert "no such settings file" in written["no file"]
    for command in ("show mcp_open_tell", "review", "doctor --start"):
        assert MARKUP in written[command], command
    for command in CALLS:
        assert MARKUP in written[command], command
        assert "[/]" in written[command], command
    assert json.dumps(MARKUP)[1:-1] in written["show mcp_open_tell --json"]


class Client:
    """Asks a gateway for all that there is, as a model and its host would; keeps what they read."""

    def __init__(self) -> None:
        self.read: list[Any] = []
        self.data: list[Any] = []

    async def elicit(self, _context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.read.append(params.model_dump(mode="json", by_alias=True))
        return types.ElicitResult(action="decline")

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.read.append(params.model_dump(mode="json", by_alias=True))

    async def progress(self, _done: float, _every: float | None, message: str | None) -> None:
        self.read.append(message)

    async def visit(self, server: GatewayServer, era: Era) -> None:
        heard: dict[str, Any] = {
            "elicitation_callback": self.elicit,
            "logging_callback": self.log,
        }
        async with connected(server, era, **heard) as client:
            self.read += [client.instructions]
            listed = [
                await client.list_tools(),
                await client.list_prompts(),
                await client.list_resources(),
                await client.list_resource_templates(),
                await client.get_prompt("mcp_open_greet1", {"which": "x"}),
                await client.complete(
                    types.PromptReference(name="mcp_open_greet1"), {"name": "which", "value": "T"}
                ),
                await self.called(client, "tool_search", {"query": "forecast tell it all"}),
                await self.called(client, "tool_describe", {"names": ["mcp_open_tell"]}),
            ]
            self.read += [each.model_dump(mode="json", by_alias=True) for each in listed]
            self.data.append(await client.read_resource("toolcrib://open/hostile://1"))
            for act in ("tell", "ask", "fail"):
                given = {"name": f"mcp_open_{act}", "arguments": {}}
                self.data.append(await self.called(client, "tool_call", given))
            for name in ("mcp_open_deny", "mcp_open_die", "mcp_pinned_tell", "mcp_open_nil"):
                done = await self.called(client, "tool_call", {"name": name, "arguments": {}})
                assert done.is_error
                self.read.append(done.model_dump(mode="json", by_alias=True))

    async def called(self, client: Any, name: str, given: Any) -> types.CallToolResult:
        return await client.call_tool(name, given, progress_callback=self.progress)


@pytest.mark.plan(36)
@pytest.mark.parametrize("era", ERAS)
def test_nothing_hidden_reaches_a_model_through_the_gateway(
    crib: Crib, strings: list[str], era: Era
):
    for mode in ("search", "direct"):
        client, server = Client(), GatewayServer(crib, Principal("ann", Profile(mode=mode)))
        try:
            if mode == "search":
                asyncio.run(client.visit(server, era))
            else:
                asyncio.run(listing(client, server, era))
        finally:
            server.close()
        assert hidden_in(*client.read) == []
        assert "Tell it all" in repr(client.read)
        for each in client.data:  # as it came, but for what no UTF-8 can say
            said = each.model_dump(mode="json", by_alias=True)
            assert strings[0] in "".join(texts(said))


async def listing(client: Client, server: GatewayServer, era: Era) -> None:
    async with connected(server, era) as reached:
        listed = await reached.list_tools()
        client.read += [reached.instructions, listed.model_dump(mode="json", by_alias=True)]


@pytest.mark.plan(36)
def test_nothing_hidden_reaches_a_model_through_a_session(crib: Crib, strings: list[str]):
    async def talk() -> list[Any]:
        session = crib.session()
        found = session.search("forecast tell it all")
        read: list[Any] = [found.text(), session.system_note(), session.deferred_summary()]
        every = (*session.active_tools(), *session.deferred_tools(), *found.tools)
        read += [[t.name, t.title, t.description, t.search_hint] for t in every]
        read += [[t.parameters, t.output_schema, t.annotations, t.meta] for t in every]
        for name in ("tool_search", "mcp_open_deny", "mcp_open_die", "mcp_pinned_tell", "x\x1b[2J"):
            session.see([name])
            outcome = await session.call(name, {"query": "tell it all"})
            assert outcome.error is None or outcome.content is None
            read += [outcome.content, outcome.error and vars_of(outcome.error)]
        failed = await crib.call("mcp_open_fail", {})
        assert failed.error
        return [*read, failed.error.message]

    read = asyncio.run(talk())
    assert hidden_in(*read) == []
    assert MARKUP in repr(read)
    raised = [str(each) for text in strings if (each := complaint(crib, text))]
    assert len(raised) == len(strings)
    assert obeyed("".join((*raised, *crib.problems))) == []


def vars_of(error: Any) -> dict[str, Any]:
    return {name: getattr(error, name) for name in error.__dataclass_fields__}


def complaint(crib: Crib, name: str) -> ToolcribError | None:
    try:
        crib.get(name)
    except ToolcribError as error:
        return error
    return None


@pytest.mark.plan(36)
def test_the_log_of_calls_has_nothing_that_a_server_says(crib: Crib, strings: list[str]):
    async def call() -> None:
        for name in ("mcp_open_fail", "mcp_open_deny", *(strings[: len(ATOMS)])):
            await crib.call(name, {})

    asyncio.run(call())
    crib.close()
    assert crib.settings.events_path
    file = EventFile(crib.settings.events_path, RETENTION)
    rows = list(file.newest(1_000).values())
    file.close()
    assert len(rows) >= len(ATOMS)
    assert obeyed(json.dumps(rows, ensure_ascii=False)) == []


@pytest.mark.plan(36)
@pytest.mark.usefixtures("unlogged")
def test_the_daemons_log_has_lines_of_ours_alone(crib: Crib, strings: list[str], tmp_path: Path):
    async def serve() -> None:
        async with serving(tmp_path, crib=lambda: crib):
            log = logging.getLogger("toolcrib.gateway.test")
            for text in strings:
                log.warning("%s", text)
                log.error("it failed: %s", text, exc_info=complaint(crib, text))
                log.error("it failed", exc_info=ValueError(text))

    log_to_file(tmp_path)
    asyncio.run(serve())
    said = "".join(
        each.read_text(encoding="utf-8") for each in log_file(tmp_path).parent.glob("*.log*")
    )
    assert obeyed(said) == []
    assert FORGED in said
    lines = said.split("\n")
    assert [line for line in lines if line.startswith(FORGED[:10])] == []
    assert all(LINE_OF_OURS.match(line) or line[:2] in ("", "  ") for line in lines)
    assert any(line.startswith("  ValueError: ") and MARKUP in line for line in lines)
