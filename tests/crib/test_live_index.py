"""The index of a pool, while other processes write theirs into the same catalog file."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workshop import SEEN, ListedSource
from toolcrib import Crib
from toolcrib.settings import EmbedSettings, Settings

HANG_S = 300

ANOTHER_POOL = """
with Crib(settings) as crib:
    crib.add(lambda: None, name="knit_sock", description="Knit a sock")
    crib.index.store()
"""
ONE_TOOL_LESS = """
source = ListedSource(*SEEN)
with Crib(settings) as crib:
    crib.add_source(source)
    assert crib.search("list_directory")
    source.listed = [each for each in SEEN if each.name != "read_file"]
    crib._stages.inventory.relist(source)
    assert "read_file" not in [hit.name for hit in crib.search("read_file")]
"""
ANOTHER_FORMAT = """
from toolcrib.index.sqlite.tables import current_pointer, switch_pointer
from toolcrib.store.catalog_file import SqliteStore
with SqliteStore.open(Path(sys.argv[1])) as store, store.write() as db:
    switch_pointer(db, current_pointer(db)._replace(format=99, mark="theirs"))
"""
PROCESS = """
import sys
from pathlib import Path
from tests.workshop import SEEN, ListedSource
from toolcrib import Crib
from toolcrib.settings.loading import Settings
from toolcrib.settings.sections import EmbedSettings
settings = Settings(store=sys.argv[1], index=sys.argv[2], embed=EmbedSettings(embedder="none"))
"""


def beside(script: str, settings: Settings, index: str = "sqlite") -> None:
    """Run a script in a process of its own, on the same catalog file."""
    command = [sys.executable, "-c", PROCESS + script, settings.store, index]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a catalog file with the index of the small catalog."""
    settings = Settings(
        store=str(tmp_path / "catalog.db"), index="sqlite", embed=EmbedSettings(embedder="none")
    )
    with Crib(settings) as crib:
        crib.add_source(ListedSource(*SEEN))
        crib.index.store()
    return settings


def best(crib: Crib, text: str) -> str:
    return next((hit.name for hit in crib.search(text)), "")


def engine_of(crib: Crib) -> str:
    with crib._stages._live_index.view() as (_, view):
        return type(view).__name__


@pytest.mark.parametrize("script", [ANOTHER_POOL, ONE_TOOL_LESS, ANOTHER_FORMAT])
def test_a_pool_that_another_process_indexes_blinds_nobody(
    settings: Settings, script: str, caplog: pytest.LogCaptureFixture
):
    with Crib(settings) as crib:
        crib.add_source(ListedSource(*SEEN))
        assert best(crib, "read_file") == "read_file"
        assert engine_of(crib) == "SqliteView"
        beside(script, settings)
        with caplog.at_level(logging.WARNING):
            assert best(crib, "read_file") == "read_file"
            assert best(crib, "send a message in slack") == "mcp_slack_send_message"
            assert crib.explain("read_file", "read_file").rank == 1
        assert engine_of(crib) == "Snapshot"
        said = [message for message in caplog.messages if "the index of another pool" in message]
        assert len(said) == 1
        assert tuple(said) == crib.problems


def test_nor_does_it_mix_with_what_changes_here(settings: Settings):
    """The other's index is not changed as if it were ours."""
    with Crib(settings) as crib:
        crib.add_source(ListedSource(*SEEN))
        assert best(crib, "read_file") == "read_file"
        beside(ANOTHER_POOL, settings)
        crib.add(lambda: None, name="brake_truck", description="Stop the truck")
        assert best(crib, "stop the truck") == "brake_truck"
        assert best(crib, "read_file") == "read_file"
    with Crib(settings) as other:
        other.add(lambda: None, name="knit_sock", description="Knit a sock")
        assert other.index.is_stored()


def test_the_same_pool_indexed_again_changes_nothing(settings: Settings):
    with Crib(settings) as crib:
        crib.add_source(ListedSource(*SEEN))
        assert best(crib, "read_file") == "read_file"
        beside(
            "with Crib(settings) as crib:\n"
            "    crib.add_source(ListedSource(*SEEN))\n"
            "    crib.index.store()\n",
            settings,
        )
        assert best(crib, "read_file") == "read_file"
        assert engine_of(crib) == "SqliteView"
        assert not crib.problems


# --- vectors for the next start

COUNTED = """
import toolcrib.embed.bundled.embedder as bundled
from toolcrib.settings.loading import Settings
from toolcrib.settings.sections import EmbedSettings
asked = []
read = bundled.BundledEmbedder.read
def counting(self, texts):
    asked.extend(texts)
    return read(self, texts)
bundled.BundledEmbedder.read = counting
from toolcrib import Crib
with Crib(SETTINGS) as crib:
    crib.add(lambda: None, name="knit_sock", description="Knit a sock")
    crib.add(lambda: None, name="steer_truck", description="Drive a lorry")
    crib.search("a pair of socks")
    assert crib.index.embedded()
print(sum("sock" in text and "pair" not in text for text in asked))
"""


def embedded_tools(settings: str = "None") -> int:
    """How many of the tools a new process has to embed, for a crib of these settings."""
    script = COUNTED.replace("SETTINGS", settings)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_a_plain_crib_embeds_its_tools_once(home: Path):
    assert embedded_tools() == 1
    assert embedded_tools() == 0
    assert len(list(home.rglob("vectors.db"))) == 1


def test_unless_the_setting_says_otherwise(home: Path):
    off = "Settings(store=':memory:', embed=EmbedSettings(cache=False))"
    assert [embedded_tools(off), embedded_tools(off)] == [1, 1]
    assert not list(home.rglob("vectors.db"))


def test_a_catalog_file_keeps_none_either_then(home: Path, tmp_path: Path):
    off = f"Settings(store={str(tmp_path / 'c.db')!r}, embed=EmbedSettings(cache=False))"
    assert [embedded_tools(off), embedded_tools(off)] == [1, 1]
    assert not list(home.rglob("vectors.db"))
