"""Commands are there at once: what help, completion and a question to the gateway load is a list.

An addition is a decision: whatever is imported at the top of a module here costs every command.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.connect.fakes import environ, files_in
from tests.waiting import HANG_S
from toolcrib.cli.groups import OBJECTS_BETWEEN_COLLECTIONS
from toolcrib.connect import DaemonInfo

ALWAYS = {
    "toolcrib",
    "toolcrib.cli",
    "toolcrib.cli.app",
    "toolcrib.cli.command_table",
    "toolcrib.cli.completion",
    "toolcrib.cli.global_options",
    "toolcrib.cli.groups",
    "toolcrib.cli.help",
    "toolcrib.cli.plain_values",
    "toolcrib.cli.screen",
    "toolcrib.cli.warnings",
    "toolcrib.client_config",
    "toolcrib.connect",
    "toolcrib.connect.arguments",
    "toolcrib.crib",
    "toolcrib.crib.shared_documents",
    "toolcrib.errors",
    "toolcrib.gateway",
    "toolcrib.lazy",
    "toolcrib.sources",
    "toolcrib.sources.apps",
    "toolcrib.sources.mcp",
    "toolcrib.system",
}
"""What every command but `connect` loads. Of most packages it is the door alone."""
SEARCHING = {"toolcrib.cli.catalog", "toolcrib.cli.inquiry", "toolcrib.cli.search"}
ASKING = {
    "toolcrib.api_arguments",
    "toolcrib.connect.daemon_files",
    "toolcrib.gateway.operator_client",
    "toolcrib.system.daemon_folder",
    "toolcrib.system.files",
    "toolcrib.system.process_tree",
}
OTHERS = {"annotated_doc", "rich", "shellingham", "typer", "typing_extensions"}
"""Packages of other people that may be loaded; `colorama` and the like are for other systems."""
HEAVY = {"asyncio", "email", "logging", "multiprocessing", "numpy.ma", "sqlite3", "ssl", "unittest"}

ALONE_OTHERS = {"Stemmer", "apsw", "numpy", "platformdirs", "sqlite_vec"}
"""What a search without a gateway may load besides. `pydantic`, `yaml` and `mcp` are not
there, nor is `rapidfuzz`: it is for words that nothing here has."""
NEVER_ALONE = (
    "toolcrib.execute.door",
    "toolcrib.index.sqlite.",
    "toolcrib.session.",
    "toolcrib.settings.validation",
    "toolcrib.sources.apps.",
    "toolcrib.sources.declaration_file",
    "toolcrib.sources.mcp.",
    "toolcrib.sources.signature",
)
"""Modules of ours that are for calls, conversations, servers and files that nobody has named."""

RUNNING = """
import gc, json, os, sys
sys.argv = ["toolcrib", *sys.argv[1:]]
from toolcrib.cli import main
try:
    main()
finally:
    sys.stdout.flush()
    with open(os.environ["LOADED"], "w") as file:
        json.dump([sorted(sys.modules), gc.get_threshold()[0], gc.get_freeze_count()], file)
"""


class Ran:
    """What a command printed, what it loaded, and when garbage was looked for in it."""

    def __init__(self, folder: Path, *words: str, **variables: str) -> None:
        loaded = folder / "loaded.json"
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", RUNNING, *words],
            env={**environ(folder), **variables, "LOADED": str(loaded)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
        )
        self.out, self.err, self.code = done.stdout, done.stderr, done.returncode
        names, self.collected_after, self.frozen = json.loads(loaded.read_text())
        modules: set[str] = set(names)
        self.ours = {name for name in modules if name.partition(".")[0] == "toolcrib"}
        tops = {name.partition(".")[0] for name in modules - _loaded_by_python()}
        self.others = tops - sys.stdlib_module_names - {"toolcrib", "__main__"}
        self.heavy = (tops | modules) & HEAVY


def _loaded_by_python() -> set[str]:
    """What is loaded before any line of ours, by `.pth` files of the environment."""
    code = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return set(json.loads(done.stdout))


def completing(*words: str) -> dict[str, str]:
    typed = ["toolcrib", *words]
    asked = {"COMP_WORDS": " ".join(typed), "COMP_CWORD": str(len(typed) - 1)}
    return {"_TOOLCRIB_COMPLETE": "complete_bash", **asked}


def test_help_loads_no_command_and_nothing_that_one_needs(tmp_path: Path):
    ran = Ran(tmp_path, "--help")
    assert "Find and call" in ran.out
    assert ran.ours == ALWAYS
    assert ran.others <= OTHERS
    assert not ran.heavy


def test_the_version_needs_no_more(tmp_path: Path):
    ran = Ran(tmp_path, "--version")
    assert ran.out.startswith("toolcrib ")
    assert ran.ours == ALWAYS
    assert ran.others <= OTHERS
    assert ran.heavy <= {"email"}, "the library that finds the version needs it"


@pytest.mark.parametrize(
    ("words", "offered", "loaded"),
    [
        (["se"], ["setup", "search", "servers", "serve"], set[str]()),
        (["search", "--li"], ["--limit"], SEARCHING),
    ],
)
def test_completion_loads_the_command_that_is_completed(
    tmp_path: Path, words: list[str], offered: list[str], loaded: set[str]
):
    ran = Ran(tmp_path, **completing(*words))
    assert sorted(ran.out.split()) == sorted(offered)
    assert ran.ours == ALWAYS | loaded
    assert ran.others <= OTHERS
    assert not ran.heavy


def test_a_command_ends_without_a_look_for_garbage(tmp_path: Path):
    ran = Ran(tmp_path, "rules", "--json")
    assert ran.collected_after == OBJECTS_BETWEEN_COLLECTIONS
    assert ran.frozen > 1_000


@pytest.mark.parametrize("name", ["serve", "connect"])
def test_a_command_that_stays_has_its_garbage_collected_as_usual(tmp_path: Path, name: str):
    assert Ran(tmp_path, name, "--help").collected_after < OBJECTS_BETWEEN_COLLECTIONS


@contextmanager
def answering(folder: Path, answer: dict[str, Any]) -> Generator[None]:
    """A daemon that answers one request with this."""
    place = files_in(folder)
    place.make_folder()
    info = DaemonInfo(os.getpid(), place.socket, place.operator, 1, version("toolcrib"))
    Path(place.info).write_text(json.dumps(info._asdict()))

    def answer_one() -> None:
        connection, _ = listening.accept()
        with connection, connection.makefile("rwb") as lines:
            lines.readline()
            lines.write(json.dumps(answer).encode() + b"\n")

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place.operator)
        listening.listen()
        thread = threading.Thread(target=answer_one, daemon=True)
        thread.start()
        yield
        thread.join(HANG_S)


def test_a_search_that_the_gateway_answers_loads_no_crib(tmp_path: Path):
    answer = {"query": "x", "hits": [], "unavailable": [], "note": "Nothing fits."}
    reply = {"problems": [], "state_folder": str(tmp_path), "reply": {"answer": answer}}
    with answering(tmp_path, {"done": reply}):
        ran = Ran(tmp_path, "search", "x", "--limit", "3")
    assert ran.out == "Nothing fits.\n", ran.err
    models = {name for name in ran.ours if name.startswith("toolcrib.model")}
    assert ran.ours == ALWAYS | SEARCHING | ASKING | models
    assert ran.others <= OTHERS
    assert not ran.heavy


@pytest.mark.parametrize("words", [("search", "read a file"), ("show", "read_file")])
def test_without_a_gateway_a_search_loads_nothing_that_is_for_calls_or_servers(
    tmp_path: Path, words: tuple[str, ...]
):
    configuration = tmp_path / ".config" / "toolcrib"
    configuration.mkdir(parents=True)
    (configuration / "config.toml").write_text('[embed]\nembedder = "none"\n')
    ran = Ran(tmp_path, *words)
    assert "read_file" in ran.out, ran.err
    assert not [name for name in sorted(ran.ours) if name.startswith(NEVER_ALONE)]
    assert {each for each in ran.others if "cython" not in each} <= OTHERS | ALONE_OTHERS
    assert ran.heavy <= {"logging", "sqlite3"}
