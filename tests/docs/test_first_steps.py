"""The first commands of README and docs/start work in a checkout as it stands, without a network.

`pip` and `uvx` are stand-ins, since both would fetch: they take what this checkout has, and refuse
what only a package index has.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.test_setup import CURSOR, STAY, TAKEN, WORKS, write
from tests.docs.test_words import ROOT
from tests.sources.mcp.faking import FAKE
from tests.terminal import CTRL_C, at_terminal

BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
ALTERNATIVE = re.compile(r"uvx --from \. toolcrib setup")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "start").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
]
PIP = f"""#!{sys.executable}
import re, sys, tomllib
command, what = sys.argv[1:]
extras = re.fullmatch(r"[.](?:[[](.*)[]])?", what)[1] or ""
with open("pyproject.toml", "rb") as file:
    known = tomllib.load(file)["project"]["optional-dependencies"]
assert command == "install" and {{*filter(None, extras.split(","))}} <= {{*known}}
"""
UVX = f"""#!/bin/sh
case "$*" in
    "--from . toolcrib "*) shift 3; exec toolcrib "$@" ;;
    mcp-server-time) exec {sys.executable} -S {FAKE} ;;
    *) echo "$1 comes from a package index" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell with these stand-ins, and with what `make` has installed."""
    if not shutil.which("make"):
        pytest.skip("there is no make here")
    installed = Path(sys.executable).parent
    programs, venv = tmp_path / "bin", tmp_path / "venv"
    for folder in (programs, venv):
        folder.mkdir()
    for name, text in {"pip": PIP, "uvx": UVX, "pipx": "#!/bin/sh\nexit 1\n"}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (venv / "bin").symlink_to(installed)
    for stamp in (".created", ".package", ".dev"):
        (venv / stamp).touch()
    path = os.pathsep.join([str(programs), str(installed), os.environ["PATH"]])
    return {"PATH": path, "MAKEFLAGS": f"VENV={venv}"}


def answers(block: str) -> list[tuple[str, str]]:
    """What a reader types while these commands run."""
    setup = re.search(r"\bsetup *(#|$)", block, re.MULTILINE)
    serve = re.search(r"^toolcrib serve", block, re.MULTILINE)
    return [*([*TAKEN, STAY] if setup else []), *([("http://", CTRL_C)] if serve else [])]


def shell(block: str, programs: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit status of a block in a checkout. `make run` and `make test` take too long here."""
    monkeypatch.chdir(ROOT)
    quick = re.sub(r"^make (?=run|test)", "make -n ", block, flags=re.MULTILINE)
    program = ("bash", "--norc", "-e", "-c", quick)
    shown = at_terminal(answers=answers(block), env=programs, program=program)
    assert shown.code in (0, 130 if "serve" in block else 0), shown.text
    return shown.code


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_works_in_a_checkout(
    block: str, programs: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
):
    client = write(home, CURSOR, {"good": WORKS})
    shell(block, programs, monkeypatch)
    if any(question == STAY[0] for question, _ in answers(block)):
        assert [*json.loads(client.read_text())["mcpServers"]] == ["toolcrib"]


def test_setup_by_uvx_works_in_a_checkout(
    programs: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
):
    client = write(home, CURSOR, {"good": WORKS})
    (command,) = {found for page in PAGES for found in ALTERNATIVE.findall(page.read_text("utf-8"))}
    shell(f"{command}\n", programs, monkeypatch)
    assert [*json.loads(client.read_text())["mcpServers"]] == ["toolcrib"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_how_its_commands_read_once_it_is_published(page: Path):
    text = page.read_text(encoding="utf-8")
    assert len(re.findall(r"[Oo]nce (?:Toolcrib|it) is published", text)) >= 1
