"""What is promised to users: a short list of names, and an import that does nothing else."""

import json
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import toolcrib
from tests.public_names import ADAPTERS, PLACES, Use, promised, sections, uses_of
from toolcrib.execute import Rulebook

# What the public names load beside the standard library. An addition is a decision: it costs
# every user start-up time.
FOREIGN = {
    "Stemmer",
    "annotated_types",
    "apsw",
    "jsonschema_rs",
    "numpy",
    "platformdirs",
    "pydantic",
    "pydantic_core",
    "rapidfuzz",
    "sqlite_vec",
    "typing_extensions",
    "typing_inspection",
    "yaml",
}
NEVER = {
    "typer",
    "rich",
    "click",
    "httpx2",
    "torch",
    "model2vec",
    "fastembed",
    "langgraph",
    "langchain_core",
}

# An audit hook hears of every file that is opened, written or made, and of every connection.
IMPORTING = """
import json, sys
events = []
watched = ("open", "os.mkdir", "socket.connect", "subprocess.Popen", "os.remove", "os.rename")
def hear(event, arguments):
    if event in watched:
        events.append([event, *map(str, arguments)])
before = set(sys.modules)
sys.addaudithook(hear)
import toolcrib
at_once = sorted(set(sys.modules) - before)
for name in toolcrib.__all__:
    getattr(toolcrib, name)
modules = sorted(set(sys.modules) - before)
print(json.dumps({"events": events, "at_once": at_once, "modules": modules}))
"""


class Importing(NamedTuple):
    events: list[list[str]]
    at_once: list[str]
    modules: list[str]
    left: list[Path]


def test_the_public_names_are_sorted():
    assert toolcrib.__all__ == sorted(set(toolcrib.__all__))


def is_ours(use: Use) -> bool:
    return use.type.__module__.partition(".")[0] == "toolcrib"


def leaks(names: Mapping[str, object], known: Collection[object]) -> list[str]:
    """The types of ours that these signatures speak of, and that nothing promises."""
    spoken = (use for name, value in names.items() for use in uses_of(name, value))
    return sorted(
        f"{use.where}: {use.type.__module__}.{use.type.__qualname__}"
        for use in spoken
        if is_ours(use) and use.type not in known
    )


@pytest.fixture(scope="module")
def everything() -> Mapping[str, object]:
    """All that is promised to whoever has installed no adapter's package."""
    return dict(sections()) | {
        name: value for place in PLACES for name, value in promised(place).items()
    }


def test_what_a_promised_signature_speaks_of_is_promised(everything: Mapping[str, object]):
    assert leaks(everything, list(everything.values())) == []


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_what_the_signature_of_an_adapter_speaks_of_is_promised(
    adapter: str, everything: Mapping[str, object]
):
    own = promised(f"toolcrib.adapters.{adapter}")
    shared = promised("toolcrib.adapters.auto")
    assert leaks(own, [*everything.values(), *shared.values(), *own.values()]) == []


def test_a_type_that_nothing_promises_is_found():
    class Public:
        def method(self, rule: Rulebook) -> None: ...

    (leak,) = leaks({"Public": Public}, ())
    assert leak.endswith("Rulebook")


@pytest.mark.parametrize("name", toolcrib.__all__)
def test_every_public_name_is_there_and_documented(name: str):
    assert getattr(toolcrib, name).__doc__


def test_what_one_starts_with_is_public():
    assert {"Crib", "Settings", "ToolInfo", "ToolcribError", "tool"} <= set(toolcrib.__all__)


@pytest.fixture(scope="module")
def importing(tmp_path_factory: pytest.TempPathFactory) -> Importing:
    """What happens when a new process in an empty home imports the package."""
    folder = tmp_path_factory.mktemp("importing")
    source = str(Path(toolcrib.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", IMPORTING],
        env={"HOME": str(folder), "PYTHONPATH": source, "PATH": ""},
        cwd=folder,
        capture_output=True,
        check=True,
        text=True,
    )
    assert not done.stderr
    heard = json.loads(done.stdout)
    left = [*folder.rglob("*")]
    return Importing(heard["events"], heard["at_once"], heard["modules"], left)


def test_an_import_opens_files_to_read_them_and_does_nothing_else(importing: Importing):
    assert any("/model/" in event[1] for event in importing.events)
    assert {(event[0], event[2]) for event in importing.events} <= {
        ("open", "r"),
        ("open", "rb"),
        ("open", "None"),
    }


def test_an_import_touches_nothing_at_home(importing: Importing):
    assert not importing.left
    assert not [event for event in importing.events if "importing" in event[1]]


def test_an_import_alone_loads_nothing_of_ours_and_nothing_foreign(importing: Importing):
    ours = {name for name in importing.at_once if name.startswith("toolcrib")}
    tops = {name.partition(".")[0] for name in importing.at_once}
    assert ours == {"toolcrib", "toolcrib.lazy"}
    assert tops <= sys.stdlib_module_names | {"toolcrib"}


def test_what_is_no_public_name_is_said_to_be_none():
    with pytest.raises(AttributeError, match="no attribute 'Crab'"):
        _ = toolcrib.Crab  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
    assert set(toolcrib.__all__) <= set(dir(toolcrib))


def test_an_import_loads_no_more_than_it_has_to(importing: Importing):
    tops = {name.partition(".")[0] for name in importing.modules}
    foreign = tops - sys.stdlib_module_names - {"toolcrib"}
    compiled = {name for name in foreign if name.startswith("_") or name == "cython_runtime"}
    assert not tops & NEVER
    assert foreign - compiled <= FOREIGN
