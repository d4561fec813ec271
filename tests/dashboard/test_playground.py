"""A crib in a program: its pages, and nothing to act on."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dashboard.asking import ORIGIN, Asked
from tests.dashboard.test_process import LINK
from tests.gateway.daemons import environ
from tests.waiting import HANG_S
from toolcrib.dashboard.actions import ACTIONS
from toolcrib.dashboard.backends import OpenCrib
from toolcrib.dashboard.page import PLAYGROUND
from toolcrib.dashboard.playground import ProgramOperations
from toolcrib.dashboard.screens import DATA, SCREENS
from toolcrib.dashboard.server import Dashboard
from toolcrib.errors import ConfigError

AGENT = """
from toolcrib import Crib, Settings

def read_file(path: str) -> str:
    "Read a text file."
    return path

crib = Crib(Settings(store=":memory:"))
crib.add(read_file)
other = 5
if __name__ == "__main__":
    crib.dashboard(browser=False)
    print([hit.name for hit in crib.search("read a file")])
"""
COMMAND = "from toolcrib.cli import main; main()"


@pytest.fixture
def asked(library: OpenCrib) -> Asked:
    """A dashboard about a crib in a program."""
    asked = Asked()
    with library() as crib:
        operations = ProgramOperations(crib)
    asked.app = Dashboard(
        operations, asked.actions, asked.logins, asked.app.settings, asked.app.origins
    )
    return asked


def test_it_shows_how_the_crib_ranks_and_what_it_holds(asked: Asked):
    cookie = asked.logged_in()
    why = asked.get("/why?query=read+a+file&tool=write_file&second=rrf", cookie)
    assert why.status == 200
    assert b"Returned at rank 1" not in why.body
    assert why.body.count(b"read_file") >= 2
    assert b"send_mail" in asked.get("/tools", cookie).body
    assert b"Send a mail to somebody" in asked.get("/tool?name=send_mail", cookie).body
    assert asked.get("/map-data", cookie).status == 200
    assert b"A crib in a program" in why.body


@pytest.mark.plan(97)
def test_there_is_nothing_to_act_on(asked: Asked):
    cookie = asked.logged_in()
    for path in SCREENS.keys() - {*PLAYGROUND, "/"}:
        assert asked.get(path, cookie).status == 404
    assert asked.get("/stream", cookie).status == 404
    for name, action in ACTIONS.items():
        assert asked.act(name, ("x",) * action.fields, cookie).status == 404
    for path in PLAYGROUND:
        page = asked.get(path, cookie).body.decode()
        assert 'method="post"' not in page
        assert "act for" not in page
        assert 'href="/inbox"' not in page


@pytest.mark.plan(93)
def test_it_is_as_closed_as_the_other(asked: Asked):
    for path in (*PLAYGROUND, *DATA, "/", "/pulse"):
        assert asked.get(path).status == 401
        assert asked.get(path, asked.logged_in(), host="evil").status == 421
    first = asked.get("/", asked.logged_in(), origin=ORIGIN)
    assert (first.status, first.headers["location"]) == (303, "/why")


def test_on_a_loop_it_says_what_to_do(library: OpenCrib):
    async def scenario() -> None:
        with library() as crib:
            crib.dashboard(browser=False)

    with pytest.raises(ConfigError, match="to_thread"):
        asyncio.run(scenario())


@pytest.mark.parametrize(
    "command",
    [["agent.py"], ["-c", COMMAND, "dashboard", "--no-browser", "--module", "agent:crib"]],
)
def test_a_program_shows_its_crib_until_it_is_told_to_end(tmp_path: Path, command: list[str]):
    (tmp_path / "agent.py").write_text(AGENT)
    with subprocess.Popen(
        [sys.executable, *command],
        env=environ(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as program:
        try:
            assert program.stdout
            assert any(LINK.fullmatch(line.strip()) for line in iter(program.stdout.readline, ""))
            program.terminate()
            rest = program.stdout.read()
            assert program.wait(HANG_S) == 0
        finally:
            program.kill()
    assert ("['read_file']" in rest) == (command[0] == "agent.py")


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("agent", "name both"),
        ("agent:nix", "is no crib"),
        ("agent:other", "is no crib"),
        ("no_such_agent:crib", "cannot be imported"),
    ],
)
def test_what_is_no_crib_is_said_to_be_none(tmp_path: Path, module: str, words: str):
    (tmp_path / "agent.py").write_text(AGENT)
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "dashboard", "--no-browser", "--module", module],
        env=environ(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        timeout=HANG_S,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert words in done.stderr
