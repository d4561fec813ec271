"""What a crib keeps for its next start, and that a bad file costs time and nothing else."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.crib.test_crib import WordHashes
from tests.plan import amount
from tests.pool.from_scratch import StampedTools
from tests.powers import modes_hold
from tests.waiting import let_pass
from toolcrib import Crib
from toolcrib.crib import inventory_of
from toolcrib.embed import Embedder
from toolcrib.errors import StoreError
from toolcrib.model import ToolInfo
from toolcrib.settings import EmbedSettings, Settings

WORDS = Settings(store=":memory:", embed=EmbedSettings(embedder="none"))
NOUNS = "file message issue page event invoice channel folder branch ticket calendar photo".split()
QUERIES = ("read a message", "delete the calendar", "create_page", "slack channel", "")


def servers(count: int = 6) -> list[StampedTools]:
    """Enough tools to be packed."""
    found = [StampedTools(id) for id in ("slack", "jira", "files", "memory", "mail", "photos")]
    for source in found[:count]:
        for verb in ("read", "list", "create", "delete"):
            for noun in NOUNS:
                source.put(f"{verb}_{noun}", f"{verb.title()} one {noun} of {source.id}")
    return found[:count]


@contextmanager
def opened(
    sources: list[StampedTools], settings: Settings = WORDS, embedder: Embedder | None = None
) -> Generator[Crib]:
    with Crib(settings, embedder=embedder) as crib:
        crib.add_source(*sources)
        yield crib


def answers(crib: Crib) -> list[list[tuple[str, float]]]:
    return [[(hit.name, hit.score) for hit in crib.search(query)] for query in QUERIES]


def kept(home: Path) -> dict[str, Path]:
    """The files of the packs by their endings."""
    return {path.suffix: path for path in home.rglob("packs/*.*") if path.suffix != ".key"}


def all_defined(crib: Crib) -> bool:
    """Whether every definition can be read."""
    found = (entry.capability for entry in crib.entries().values())
    return all(isinstance(each, ToolInfo) and each.parameters for each in found)


def was_packed(crib: Crib) -> bool:
    """Whether all was found in the files."""
    inventory = inventory_of(crib)
    crib.search("anything")
    return inventory.pool.pack is not None and crib._stages._live_index.is_packed


@pytest.fixture
def first(home: Path) -> list[list[tuple[str, float]]]:
    """What the first crib found; it has left its packs."""
    with opened(servers()) as crib:
        found = answers(crib)
    assert set(kept(home)) == {".pool", ".index"}
    return found


def test_the_next_start_lists_nothing_and_finds_the_same(first: object) -> None:
    sources = servers()

    with opened(sources) as crib:
        assert was_packed(crib)
        assert answers(crib) == first
        assert [source.listed for source in sources] == [0] * len(sources)


def test_what_changed_meanwhile_is_listed_and_found(first: object) -> None:
    sources = servers()
    sources[0].put("knit_sock", "Knit a sock of wool")
    del sources[1].tools["read_file"]

    with opened(sources) as crib, opened_afresh(sources) as expected:
        assert crib.search("knit a sock")[0].name == "mcp_slack_knit_sock"
        assert "mcp_jira_read_file" not in crib.entries()
        assert answers(crib) == answers(expected) != first
        assert [source.listed for source in sources[2:]] == [0] * 4
    again = [source.copied() for source in sources]
    with opened(again) as crib:
        assert was_packed(crib)
        assert [source.listed for source in again] == [0] * len(sources)


def opened_afresh(sources: list[StampedTools]) -> AbstractContextManager[Crib]:
    """The same without any pack."""
    copies = [source.copied() for source in sources]
    return opened(copies, WORDS.model_copy(update={"index": "memory"}))


@pytest.mark.parametrize("gone", range(6))
def test_a_server_that_is_gone_is_not_found(first: object, gone: int) -> None:
    sources = servers()
    lost = sources.pop(gone)

    with opened(sources) as crib, opened_afresh(sources) as expected:
        assert answers(crib) == answers(expected)
        assert not any(entry.source_id == lost.id for entry in crib.entries().values())


@pytest.mark.parametrize("ending", [".pool", ".index"])
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-100]), id="cut short"),
        pytest.param(lambda path: _flip(path, 0.3), id="scratched"),
        pytest.param(lambda path: _flip(path, 0.999), id="scratched in its table"),
        pytest.param(lambda path: path.with_name("packs.key").unlink(), id="of another key"),
        pytest.param(lambda path: path.unlink(), id="gone"),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), id="a folder"),
    ],
)
def test_a_bad_file_costs_time_and_nothing_else(
    home: Path, first: object, ending: str, spoil: Callable[[Path], object]
) -> None:
    spoil(kept(home)[ending])

    with opened(servers()) as crib:
        assert answers(crib) == first
        assert all_defined(crib)
    with opened(servers()) as crib:
        assert answers(crib) == first
        assert was_packed(crib) or kept(home)[ending].is_dir()


def test_packs_of_another_pool_are_not_taken(home: Path, first: object) -> None:
    """As if somebody had copied the pair of another."""
    for path in kept(home).values():
        path.rename(path.with_name(f"aside{path.suffix}"))
    others = servers(5)
    for source in others:
        source.put("knit_sock", "Knit a sock")
    with opened(others) as crib:
        crib.search("sock")
    name = kept(home)[".index"].stem
    for path in home.rglob("packs/aside.*"):
        path.replace(path.with_name(f"{name}{path.suffix}"))

    with opened(others) as crib:
        assert crib.search("knit a sock")
        assert "mcp_photos_read_file" not in crib.entries()
    assert first


def test_where_nothing_can_be_written_that_is_said_once(home: Path, first: object) -> None:
    sources = servers()
    sources[0].put("knit_sock", "Knit a sock of wool")
    folder = kept(home)[".pool"].parent
    folder.chmod(0o500)
    try:
        with modes_hold(), opened(sources) as crib:
            assert crib.search("knit a sock")[0].name == "mcp_slack_knit_sock"
            crib._stages._packs.close()
            assert len([each for each in crib.problems if "quick start" in each]) == 1
    finally:
        folder.chmod(0o700)
    assert first


def test_nothing_is_kept_in_memory(home: Path) -> None:
    with opened(servers(), WORDS.model_copy(update={"index": "memory"})) as crib:
        assert crib.search("read a message")
    assert not kept(home)


def test_who_wants_it_kept_there_hears_so_before_anything_is_embedded() -> None:
    embedder = WordHashes()
    settings = WORDS.model_copy(update={"index": "memory"})
    with (
        opened(servers(), settings, embedder) as crib,
        pytest.raises(StoreError, match='set it to "auto"'),
    ):
        crib.index.store()
    assert not embedder.asked


def test_nor_of_a_few_tools(home: Path) -> None:
    with opened(servers(2)) as crib:
        assert crib.search("read a message")
    assert not kept(home)


def test_nor_by_who_only_looks(home: Path) -> None:
    with opened(servers()) as crib:
        assert crib.entries()
    assert not kept(home)


def test_vectors_of_an_embedder_of_your_own_are_kept_with_a_catalog_file(
    home: Path, tmp_path: Path
) -> None:
    settings = WORDS.model_copy(update={"store": str(tmp_path / "catalog.db")})
    for where in (WORDS, settings):
        with opened(servers(), where, WordHashes()) as crib:
            crib.search("read a message")
        assert (".index" in kept(home)) == (where is settings)
    embedder = WordHashes()

    with opened(servers(), settings, embedder) as crib:
        found = crib.search("read a message")

    assert found[0].name.endswith("read_message")
    assert embedder.asked == ["read a message"]


def test_vectors_are_not_kept_where_the_settings_say_so(home: Path, tmp_path: Path) -> None:
    embed = EmbedSettings(embedder="none", cache=False)
    update = {"store": str(tmp_path / "catalog.db"), "embed": embed}
    with opened(servers(), WORDS.model_copy(update=update), WordHashes()) as crib:
        assert crib.search("read a message")
    assert set(kept(home)) == {".pool"}


def test_two_at_once_do_no_harm(home: Path, first: object) -> None:
    changed = servers()
    changed[0].put("knit_sock", "Knit a sock of wool")
    with opened(servers()) as one, opened(changed) as two:
        assert answers(one) == first
        assert two.search("knit a sock")[0].name == "mcp_slack_knit_sock"
        two.index.store()
        assert answers(one) == first
        assert all_defined(one)
        for path in kept(home).values():
            path.unlink()
        assert answers(one) == first


WRITER = """
import sys
from tests.crib.test_packs import opened, servers
count = 0
while True:
    sources = servers()
    sources[count % 6].put(f"knit_sock_{count}", "Knit a sock of wool")
    with opened(sources) as crib:
        assert crib.search("knit a sock")[0].name.endswith(f"knit_sock_{count}")
    count += 1
    print(count, flush=True)
"""


@pytest.mark.plan(2)
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_crib_that_is_killed_leaves_packs_that_can_be_trusted(home: Path) -> None:
    for turn in range(amount(2, "kills") // 5):
        child = subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE, text=True)
        assert child.stdout
        child.stdout.readline()
        let_pass(0.013 * (turn % 7))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        with opened(servers()) as crib, opened_afresh(servers()) as expected:
            assert answers(crib) == answers(expected)
    assert not list(home.rglob("packs/*.bad"))
    assert not list(home.rglob("packs/.*.tmp"))


def _flip(path: Path, share: float) -> None:
    content = bytearray(path.read_bytes())
    content[int(len(content) * share)] ^= 0xFF
    path.write_bytes(content)
