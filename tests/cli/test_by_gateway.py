"""Commands that ask the gateway of their settings if one runs, and say the same without it."""

import asyncio
import json
import os
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Ran, Run
from tests.gateway.live_daemon import LiveDaemon, entry
from tests.waiting import HANG_S, let_pass_async, until_async
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.crib import Crib
from toolcrib.errors import UnknownTool
from toolcrib.gateway import operator_client
from toolcrib.gateway.daemon import Daemon
from toolcrib.settings import config_folder
from toolcrib.system import RUN_FOLDER_VARIABLE

Command = Callable[..., Coroutine[Any, Any, Ran]]
Scenario = Callable[[Daemon, Command], Coroutine[Any, Any, None]]

SKILL = "---\nname: forms\ndescription: Fill in forms.\n---\nHow to fill them in.\n"
QUERIES = [
    ["search", "echo what I say"],
    ["search", "echo", "--limit", "1", "--kind", "tool", "--json"],
    ["search", ""],
    ["search", "select:mcp_a_echo,nothing_like_it"],
    ["search", "zzzqqq", "--json"],
    ["search", "\udcff"],
    ["list"],
    ["list", "--json"],
    ["list", "--kind", "skill"],
    ["show", "mcp_a_echo"],
    ["show", "mcp_a_echo", "--json"],
    ["show", "skill_forms"],
    ["show", "mcp_a_ecco"],
    ["why", "echo what I say", "mcp_a_echo"],
    ["why", "echo what I say", "mcp_a_sleep", "--limit", "2", "--json"],
    ["why", "echo", "nothing_like_it"],
]


class Gateway:
    """A gateway over files of its own, and commands beside it."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.live = LiveDaemon(folder)
        self.run = run
        self.skill = config_folder() / "skills" / "forms" / "SKILL.md"
        self.skill.parent.mkdir(parents=True)
        self.skill.write_text(SKILL)
        self.live.write_settings('skills = ["skills"]')
        self.live.write({"a": entry(), "b": entry(disabled=True, env={"X": "${TOKEN_OF_B}"})})

    async def command(self, *words: str) -> Ran:
        return await asyncio.to_thread(self.run, *words)

    def beside(self, scenario: Scenario) -> None:
        async def served() -> None:
            async with self.live.serving() as daemon:
                await until_async(lambda: "mcp_a_echo" in daemon.serving.crib.entries())
                await scenario(daemon, self.command)

        asyncio.run(served())


@pytest.fixture
def gateway(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path / "run"))
    return Gateway(tmp_path, run)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[GlobalOptions]:
    """The commands that have opened a crib of their own."""
    found: list[GlobalOptions] = []
    crib = GlobalOptions.crib

    def opening(options: GlobalOptions) -> Any:
        found.append(options)
        return crib(options)

    monkeypatch.setattr(GlobalOptions, "crib", opening)
    return found


def said(ran: Ran) -> tuple[object, ...]:
    return ran.code, ran.out, ran.err, type(ran.error), str(ran.error)


def test_what_is_asked_is_answered_alike_with_and_without_it(
    gateway: Gateway, opened: list[GlobalOptions]
):
    by_gateway: list[tuple[object, ...]] = []

    async def scenario(_daemon: Daemon, command: Command) -> None:
        by_gateway.extend([said(await command(*words)) for words in QUERIES])

    gateway.beside(scenario)
    assert not opened
    alone = [said(gateway.run(*words)) for words in QUERIES]
    assert len(opened) == len(QUERIES)
    for words, with_it, without in zip(QUERIES, by_gateway, alone, strict=True):
        assert with_it == without, words
    assert type(UnknownTool("")) in {each[3] for each in by_gateway}


def test_what_is_wrong_is_warned_of_once_whoever_answers(
    gateway: Gateway, opened: list[GlobalOptions]
):
    (gateway.skill.parent / "SKILL.md").write_text("no head")
    problems: list[str] = []

    async def scenario(_daemon: Daemon, command: Command) -> None:
        problems.append((await command("list")).err)
        assert not (await command("list")).err

    gateway.beside(scenario)
    assert not opened
    assert "SKILL.md" in problems[0]
    assert not gateway.run("list").err


def _edit_settings(gateway: Gateway) -> None:
    gateway.live.write_settings('skills = ["skills"]', '[search]\ninternal = ["skill_forms"]\n')


def test_a_change_of_the_settings_is_there_at_once(gateway: Gateway, opened: list[GlobalOptions]):
    async def scenario(_daemon: Daemon, command: Command) -> None:
        assert "skill_forms" in (await command("search", "forms")).out
        _edit_settings(gateway)
        assert "skill_forms" not in (await command("search", "forms")).out

    gateway.beside(scenario)
    assert not opened


def _break_settings(gateway: Gateway) -> None:
    gateway.live.settings.write_text("nonsense")


def _edit_skill(gateway: Gateway) -> None:
    gateway.skill.write_text(SKILL.replace("forms", "papers"))


def _remove_skill(gateway: Gateway) -> None:
    gateway.skill.unlink()


@pytest.mark.parametrize("change", [_break_settings, _edit_skill, _remove_skill])
def test_what_the_gateway_would_say_otherwise_the_command_does_itself(
    gateway: Gateway, opened: list[GlobalOptions], change: Callable[[Gateway], None]
):
    by_gateway: list[Ran] = []

    async def scenario(_daemon: Daemon, command: Command) -> None:
        change(gateway)
        by_gateway.append(await command("list"))

    gateway.beside(scenario)
    assert opened
    assert said(by_gateway[0]) == said(gateway.run("list"))


def _other_version(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(operator_client, "installed_version", lambda: "0.0.0")
    return []


def _environment(monkeypatch: pytest.MonkeyPatch, **changed: Any) -> list[str]:
    """Let commands have another environment than the gateway, which is in the same process."""
    send = operator_client._send

    def sent(connection: socket.socket, message: dict[str, Any]) -> None:
        if "environment" in message:
            message["environment"] |= changed
        send(connection, message)

    monkeypatch.setattr(operator_client, "_send", sent)
    return []


def _other_value(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return _environment(monkeypatch, values={"ENABLE_TOOL_SEARCH": "false"})


def _other_names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return _environment(monkeypatch, names=["HOME", "PATH", "TOKEN_OF_B"])


def _no_environment(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return _environment(monkeypatch, values=None)


def _more_tools(_monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return ["--tools", "json"]


@pytest.mark.parametrize(
    "differ", [_other_version, _other_value, _other_names, _no_environment, _more_tools]
)
def test_a_gateway_of_other_settings_or_of_another_version_is_not_asked(
    gateway: Gateway,
    opened: list[GlobalOptions],
    differ: Callable[[pytest.MonkeyPatch], list[str]],
    monkeypatch: pytest.MonkeyPatch,
):
    before = differ(monkeypatch)

    async def scenario(_daemon: Daemon, command: Command) -> None:
        await command(*before, "show", "mcp_a_echo")

    gateway.beside(scenario)
    assert len(opened) == 1


def test_the_version_is_found_as_the_library_finds_it():
    assert operator_client.installed_version() == version("toolcrib")


Misbehaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


async def _hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def _hang_up(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.readline()


async def _say_nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readline()
    writer.write(b'{"told": {}}\n[]\n')


async def _end_in_the_middle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readline()
    writer.write(b'{"told": {}}\n{"done": {"reply": ')


async def _be_at_it_for_ever(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readline()
    while not reader.at_eof():
        writer.write(b'{"told": {}}\n')
        await let_pass_async(0.05)


@asynccontextmanager
async def in_its_place(daemon: Daemon, misbehave: Misbehaviour) -> AsyncGenerator[None]:
    """Something else answers the operator, as long as this lasts."""
    path = daemon._lock.files.operator
    answering: set[asyncio.Task[None]] = set()

    async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await misbehave(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering.add(asyncio.create_task(answered(reader, writer)))

    async def is_reachable() -> bool:
        return True

    daemon._is_reachable = is_reachable  # it would put its own socket back
    await asyncio.to_thread(os.unlink, path)
    async with await asyncio.start_unix_server(answer, path):
        yield
        for task in answering:
            task.cancel()
        await asyncio.gather(*answering, return_exceptions=True)


MISBEHAVIOURS = [_hang, _hang_up, _say_nonsense, _end_in_the_middle, _be_at_it_for_ever]


@pytest.mark.parametrize("misbehave", MISBEHAVIOURS)
@pytest.mark.parametrize("words", [("show", "mcp_a_echo"), ("call", "mcp_a_echo", "{}")])
def test_a_gateway_that_does_not_answer_costs_a_moment_and_nothing_else(
    gateway: Gateway,
    opened: list[GlobalOptions],
    misbehave: Misbehaviour,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(operator_client, "SILENT_S", 0.3)
    monkeypatch.setattr(operator_client, "MOST_S", 0.3)

    async def scenario(daemon: Daemon, command: Command) -> None:
        async with in_its_place(daemon, misbehave):
            ran = await command(*words)
            assert (ran.code, ran.err) == (0, "")
            assert ran.out

    gateway.beside(scenario)
    assert len(opened) == 1


def test_a_call_is_made_by_the_gateway(gateway: Gateway, opened: list[GlobalOptions]):
    async def scenario(daemon: Daemon, command: Command) -> None:
        outcome = await daemon.serving.crib.call("mcp_a_echo", {})
        ran = await command("call", "mcp_a_echo", '{"x": 1}', "--json")
        assert ran.code == 0
        pids = [each["pid"] for each in (ran.json["structured"], outcome.structured)]  # type: ignore[index]
        assert pids[0] == pids[1], "the server that runs already"

    gateway.beside(scenario)
    assert not opened


CALLS = [
    ["mcp_a_echo", '{"x": "y"}'],
    ["mcp_a_ecco"],
    ["mcp_a_fail"],
    ["mcp_a_echo", "{"],
    ["mcp_a_echo", "[]", "--json"],
]


def test_calls_end_alike_with_and_without_it(gateway: Gateway, opened: list[GlobalOptions]):
    by_gateway: list[tuple[object, ...]] = []

    async def scenario(_daemon: Daemon, command: Command) -> None:
        by_gateway.extend([_pidless(await command("call", *words)) for words in CALLS])

    gateway.beside(scenario)
    assert not opened
    assert by_gateway == [_pidless(gateway.run("call", *words)) for words in CALLS]


def _pidless(ran: Ran) -> tuple[object, ...]:
    """What was said, but for the process of the server."""
    words = [word for word in ran.out.split() if not word.strip(",}").isdecimal()]
    return ran.code, words, ran.err


def test_a_function_is_called_where_the_command_is(
    gateway: Gateway, opened: list[GlobalOptions], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    gateway.live.settings.write_text(
        gateway.live.settings.read_text().replace("builtin_tools = false", "builtin_tools = true")
    )
    (tmp_path / "here.txt").write_text("of this folder")
    monkeypatch.chdir(tmp_path)

    async def scenario(_daemon: Daemon, command: Command) -> None:
        ran = await command("call", "read_file", '{"path": "here.txt"}')
        assert "of this folder" in ran.out

    gateway.beside(scenario)
    assert len(opened) == 1


@pytest.mark.parametrize(("answer", "code"), [(True, 0), (False, 1), (None, 1)])
def test_the_person_at_the_terminal_of_the_command_is_asked(
    gateway: Gateway, answer: bool | None, code: int, monkeypatch: pytest.MonkeyPatch
):
    gateway.live.write({"a": entry(permission={"*": "dangerous"})})
    gateway.live.write_settings('skills = ["skills"]', '[approval]\nservers = "ask"\n')
    asked: list[str] = []

    def confirm(question: str, **_options: Any) -> bool:
        asked.append(question)
        return answer is True

    monkeypatch.setattr("toolcrib.cli.call.at_terminal", lambda: answer is not None)
    monkeypatch.setattr("typer.confirm", confirm)

    async def scenario(daemon: Daemon, command: Command) -> None:
        ran = await command("call", "mcp_a_echo", '{"x": 1}')
        assert (ran.code, bool(ran.out)) == (code, code == 0)
        assert ('"x": 1' in ran.err) == (answer is not None)
        assert ("--yes" in ran.err) == (answer is None)
        waiting = daemon.serving.crib.operator.tickets.waiting()
        assert [each.request.caller for each in waiting] == (["host"] if answer is None else [])

    gateway.beside(scenario)
    assert len(asked) == (answer is not None)


def test_a_call_whose_command_leaves_is_cancelled(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
):
    begun, ended = threading.Event(), threading.Event()
    leave = threading.Event()

    async def lasting(_crib: Crib, *_words: object, **_more: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(Crib, "call", lasting)

    def interrupted(_connection: Any, _lines: Any, _approve: Any, _do: str) -> None:
        operator_client._send(_connection, {"go": True})
        assert leave.wait(HANG_S)
        raise KeyboardInterrupt

    monkeypatch.setattr(operator_client, "_call_outcome", interrupted)

    async def scenario(daemon: Daemon, command: Command) -> None:
        running = asyncio.create_task(command("call", "mcp_a_echo"))
        assert await asyncio.to_thread(begun.wait, 30)
        assert daemon.request_limiter.running == 1, "it does not end meanwhile"
        leave.set()
        assert (await running).code == 130
        assert await asyncio.to_thread(ended.wait, 30)
        await until_async(lambda: not daemon.request_limiter.running)

    gateway.beside(scenario)


def test_a_call_that_may_have_reached_the_tool_is_not_made_again(
    gateway: Gateway, opened: list[GlobalOptions]
):
    heard: list[Any] = []

    async def leave_after_go(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(json.loads(await reader.readline()))
        about = {"problems": [], "state_folder": str(gateway.live.folder)}
        writer.write(json.dumps({"told": {"ready": about}}).encode() + b"\n")
        heard.append(json.loads(await reader.readline()))

    async def scenario(daemon: Daemon, command: Command) -> None:
        async with in_its_place(daemon, leave_after_go):
            ran = await command("call", "mcp_a_echo", "{}")
            assert ran.code == 1
            assert "not known" in ran.err
            assert "(connection_lost, unknown)" in ran.err
            as_json = (await command("call", "mcp_a_echo", "{}", "--json")).json
            assert (as_json["error"]["effect"], as_json["error"]["phase"]) == ("unknown", "call")

    gateway.beside(scenario)
    assert not opened
    assert heard[1] == {"go": True}


def test_servers_are_shown_as_they_were_known_if_the_gateway_hangs(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(operator_client, "SILENT_S", 0.3)

    async def scenario(daemon: Daemon, command: Command) -> None:
        assert "known last" not in (await command("servers")).out
        async with in_its_place(daemon, _hang):
            ran = await command("servers")
            assert "The gateway does not answer; this is what was known last." in ran.out
            assert "\na  " in ran.out

    gateway.beside(scenario)


BOTH = "first = await a.echo()\nawait a.echo()\nfirst['pid']"
RUNS = [
    ["--check", "both.py"],
    ["--check", "both.py", "--json"],
    ["--check", "wrong.py"],
    ["wrong.py"],
    ["wrong.py", "--json"],
    ["fails.py"],
    ["fails.py", "--json"],
    ["words.py"],
    ["words.py", "--json"],
    ["--resume", "nothing-waits"],
    ["--resume", "nothing-waits", "--json"],
]
PROGRAMS = {
    "both.py": BOTH,
    "wrong.py": "await a.ecco()",
    "fails.py": "print('so far')\nawait a.fail()",
    "words.py": "found = await a.echo()\nprint(sorted(found))\n'said'",
    "pays.py": "await a.echo()\n'done'",
    "reads.py": "await tools.read_file(path='pays.py')",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, program in PROGRAMS.items():
        (tmp_path / name).write_text(program)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_a_program_is_run_by_the_gateway(gateway: Gateway, opened: list[GlobalOptions]):
    async def scenario(daemon: Daemon, command: Command) -> None:
        outcome = await daemon.serving.crib.call("mcp_a_echo", {})
        ran = await command("run", "both.py", "--json")
        assert ran.code == 0, ran.err
        assert ran.json["value"] == outcome.structured["pid"], "the server that runs already"  # type: ignore[index]
        assert [each["effect"] for each in ran.json["calls"]] == ["done", "done"]

    gateway.beside(scenario)
    assert not opened


@pytest.mark.usefixtures("folder")
def test_what_comes_of_a_program_is_told_alike(gateway: Gateway, opened: list[GlobalOptions]):
    by_gateway: list[tuple[object, ...]] = []

    async def scenario(_daemon: Daemon, command: Command) -> None:
        by_gateway.extend([said(await command("run", *words)) for words in RUNS])

    gateway.beside(scenario)
    assert not opened
    alone = [said(gateway.run("run", *words)) for words in RUNS]
    for words, with_it, without in zip(RUNS, by_gateway, alone, strict=True):
        assert with_it == without, words


@pytest.mark.usefixtures("folder")
def test_a_program_waits_at_the_gateway_and_goes_on_there_or_here(
    gateway: Gateway, opened: list[GlobalOptions]
):
    gateway.live.write_settings('skills = ["skills"]', '[approval]\nservers = "ask"\n')
    written = gateway.live.settings.read_text()
    gateway.live.settings.write_text(written.replace('":memory:"', '"catalog.db"'))
    gateway.live.write({"a": entry(permission={"*": "dangerous"})})
    handles: list[str] = []

    async def scenario(_daemon: Daemon, command: Command) -> None:
        for _ in range(2):
            waits = await command("run", "pays.py", "--json")
            assert waits.json["error"]["code"] == "approval_needed", waits.err
            handles.append(waits.json["suspended"])
        again = await command("run", "--resume", handles[0])
        assert f"Go on with it: toolcrib run --resume {handles[0]}" in again.err
        done = await command("run", "--resume", handles[0], "--yes")
        assert (done.code, done.out) == (0, "done\n"), done.err
        gone = await command("run", "--resume", handles[0], "--yes")
        assert "no program waits under this handle" in gone.err

    gateway.beside(scenario)
    assert not opened
    done = gateway.run("run", "--resume", handles[1], "--yes")
    assert (done.code, done.out) == (0, "done\n"), done.err
    assert len(opened) == 1


@pytest.mark.usefixtures("folder")
def test_the_person_at_the_terminal_is_asked_about_the_calls_of_a_program(
    gateway: Gateway, opened: list[GlobalOptions], monkeypatch: pytest.MonkeyPatch
):
    gateway.live.write_settings('skills = ["skills"]', '[approval]\nservers = "ask"\n')
    gateway.live.write({"a": entry(permission={"*": "dangerous"})})
    asked: list[str] = []

    def ask(request: dict[str, Any]) -> bool:
        asked.append(request["name"])
        return True

    monkeypatch.setattr("toolcrib.cli.call.at_terminal", lambda: True)
    monkeypatch.setattr("toolcrib.cli.call._ask", ask)

    async def scenario(_daemon: Daemon, command: Command) -> None:
        assert (await command("run", "pays.py")).code == 0

    gateway.beside(scenario)
    assert asked == ["mcp_a_echo"]
    assert not opened


@pytest.mark.usefixtures("folder")
def test_a_program_that_names_a_function_is_run_here(gateway: Gateway, opened: list[GlobalOptions]):
    gateway.live.settings.write_text(
        gateway.live.settings.read_text().replace("builtin_tools = false", "builtin_tools = true")
    )

    async def scenario(_daemon: Daemon, command: Command) -> None:
        assert "await a.echo()" in (await command("run", "reads.py")).out

    gateway.beside(scenario)
    assert len(opened) == 1
