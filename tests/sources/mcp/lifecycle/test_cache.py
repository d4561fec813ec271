import json
import os
import random
import resource
import signal
import stat
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.plan import amount
from tests.waiting import let_pass
from toolcrib.errors import StoreError
from toolcrib.sources.mcp.lifecycle import cache as cache_module
from toolcrib.sources.mcp.lifecycle.cache import MCPToolsCache, ToolTexts
from toolcrib.sources.mcp.listing import KnownServer, ServerFacts, ServerListing
from toolcrib.sources.mcp.outcome import StartFailure
from toolcrib.store import ListingFiles, ListingKey
from toolcrib.store.listing_files import MOST_BYTES

TOOLS = ({"name": "a", "x-vendor": {"kept": [1, None, 2.5]}}, {"name": "b"})
FACTS = ServerFacts("2026-07-28", {"supportedVersions": ["2026-07-28"]}, instructions="Do.")
KNOWN = KnownServer("git", "hash", FACTS, ServerListing(TOOLS), 12.5, 0.5, {"roots": {}})


@pytest.fixture
def cache(tmp_path):
    return cache_in(tmp_path / "mcp")


def cache_in(folder):
    return MCPToolsCache(ListingFiles(folder))


def path_in(cache, server, config_hash):
    return cache._listings.path(ListingKey(server, config_hash))


def test_what_is_written_is_read_in_full(cache):
    assert cache.read("git", "hash").known is None
    cache.write(KNOWN)
    assert cache.read("git", "hash")[:2] == (KNOWN, "")


def test_the_file_is_json_ours_alone_and_named_by_a_hash(cache):
    cache.write(replace(KNOWN, server="../../etc/x"))
    path = path_in(cache, "../../etc/x", "hash")
    assert path.parent.name == "mcp"
    assert json.loads(path.read_bytes())["entry"]["listing"]["tools"][0]["name"] == "a"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_another_configuration_invalidates_without_a_warning(cache):
    cache.write(KNOWN)
    assert cache.read("git", "other") == (None, "", "")
    assert path_in(cache, "git", "hash").exists()


@pytest.mark.plan(5)
def test_a_link_or_a_pipe_is_not_followed(cache, tmp_path):
    cache.write(KNOWN)
    path = path_in(cache, "git", "hash")
    elsewhere = tmp_path / "elsewhere.json"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert cache.read("git", "hash").known is None
    os.mkfifo(path)
    found = cache.read("git", "hash")
    assert found.known is None
    assert "not a plain file" in found.problem


@pytest.mark.plan(5)
def test_an_oversized_file_is_set_aside_unread(cache):
    cache.write(KNOWN)
    path = path_in(cache, "git", "hash")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with path.open("r+b") as file:
        file.truncate(500_000_000)
    found = cache.read("git", "hash")
    assert found.known is None
    assert "larger than" in found.problem
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256 * 1024
    assert not path.exists()
    assert cache.read("git", "hash") == (None, "", "")


def test_a_listing_that_is_too_large_is_not_written(cache):
    cache.write(KNOWN)
    huge = replace(KNOWN, listing=ServerListing(({"name": "x" * MOST_BYTES},)))
    with pytest.raises(StoreError, match="bytes"):
        cache.write(huge)
    assert cache.read("git", "hash").known == KNOWN


def hostile(rng, good):
    """One of the ways in which a file goes bad."""
    flipped = bytearray(good)
    flipped[rng.randrange(len(good))] ^= 1 << rng.randrange(8)
    cut = rng.randrange(len(good))
    return rng.choice(
        [
            bytes(flipped),
            good[:cut],
            good[:cut] + b"\xff\xfe" + good[cut:],
            good[:cut] + bytes(rng.randrange(1, 64)) + good[cut + 9 :],
            b"[" * 100_000,
            b'{"checksum":"' + b"0" * 64 + b'","entry":{"format":1,"format":2}}\n',
            b'{"checksum":"' + b"0" * 64 + b'","entry":NaN}\n',
            b"",
            good + good,
        ]
    )


@pytest.mark.plan(5)
def test_a_damaged_file_costs_one_warning_and_no_other_server(cache):
    rng = random.Random(5)
    other = replace(KNOWN, server="other")
    cache.write(other)
    cache.write(KNOWN)
    path, good = path_in(cache, "git", "hash"), path_in(cache, "git", "hash").read_bytes()
    for _ in range(amount(5, "files")):
        bad = hostile(rng, good)
        path.write_bytes(bad)
        found = cache.read("git", "hash")
        assert found.known is None or bad == good
        assert "toolcrib refresh git" in found.problem or bad == good
        assert cache.read("git", "hash") == (None, "", "") or bad == good
    assert cache.read("other", "hash").known == other


def sealed(entry):
    """A file with a right checksum and a wrong content."""
    from hashlib import sha256  # noqa: PLC0415 - only here

    body = json.dumps(entry).encode()
    return b'{"checksum":"%s","entry":%s}\n' % (sha256(body).hexdigest().encode(), body)


@pytest.mark.parametrize(
    "entry",
    [
        [],
        {},
        3,
        {"facts": {}},
        {"facts": {}, "listing": {"tools": []}},
        {"facts": 3, "listing": 4},
    ],
)
def test_a_foreign_content_is_set_aside_too(cache, entry):
    cache.write(KNOWN)
    path_in(cache, "git", "hash").write_bytes(sealed(entry))
    found = cache.read("git", "hash")
    assert found.known is None
    assert found.problem


WRITER = """
import sys
from pathlib import Path
from toolcrib.sources.mcp.lifecycle.cache import MCPToolsCache
from toolcrib.sources.mcp.listing import KnownServer, ServerFacts, ServerListing
from toolcrib.store import ListingFiles
cache = MCPToolsCache(ListingFiles(Path(sys.argv[1])))
tools = {name: tuple({"name": name * 2_000} for _ in range(100)) for name in "ab"}
for number in range(10**9):
    name = "ab"[number % 2]
    cache.write(KnownServer("git", "hash", ServerFacts(name), ServerListing(tools[name]), 0.0))
    if not number:
        print("ready", flush=True)
"""


@pytest.mark.plan(2)
def test_whoever_reads_while_it_is_written_has_the_old_file_whole(tmp_path):
    cache = cache_in(tmp_path)
    old, new = (
        KnownServer("git", "hash", ServerFacts(name), ServerListing(({"name": name},)), 0.0)
        for name in "ab"
    )
    cache.write(old)
    path = path_in(cache, "git", "hash")
    before = path.read_bytes()
    with path.open("rb") as reading:
        cache.write(new)
        assert reading.read() == before != path.read_bytes()


@pytest.mark.plan(2)
def test_a_writer_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path):
    rng, folder = random.Random(2), tmp_path / "mcp"
    for _ in range(amount(2, "kills")):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE
        )
        assert writer.stdout
        writer.stdout.readline()
        let_pass(rng.uniform(0.0, 0.05))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        found = cache_in(folder).read("git", "hash")
        assert not found.problem
        if found.known:
            names = {str(tool["name"]) for tool in found.known.listing.tools}
            assert names == {found.known.facts.version * 2_000}
    left = [path.name for path in folder.iterdir()]
    assert left == [path_in(cache_in(folder), "git", "hash").name]


def test_a_failure_is_remembered_until_all_is_well(cache):
    assert cache.read_failure("git", "hash") is None
    cache.write_failure("git", "hash", StartFailure("start_failed", "no", 1.5))
    assert cache.read_failure("git", "hash") == StartFailure("start_failed", "no", 1.5)
    cache.write_failure("git", "hash", None)
    assert cache.read_failure("git", "hash") is None


def test_a_damaged_failure_is_none(cache):
    cache.write_failure("git", "hash", StartFailure("start_failed", "no", 1.5))
    for bad in (b"", b"[]", b'{"x": 1}', b"[" * 60_000):
        path_in(cache, "git", "hash").with_suffix(".failure").write_bytes(bad)
        assert cache.read_failure("git", "hash") is None


def test_the_text_of_a_tool_is_made_once_and_never_taken_for_another(cache, monkeypatch):
    made: list[str] = []
    text = cache_module._tool_text
    monkeypatch.setattr(
        cache_module, "_tool_text", lambda raw: made.append(raw["name"]) or text(raw)
    )
    cache.write(KNOWN)
    twice = (TOOLS[0], {"name": "b", "description": "new"}, TOOLS[0], {"name": "c"})
    for tools in (twice, TOOLS[1:], ()):
        known = replace(KNOWN, listing=ServerListing(tools))
        version = cache.write(known)
        assert cache.read("git", "hash") == (known, "", version)
    assert made == ["a", "b", "b", "c", "b"]


def test_the_texts_of_few_servers_are_remembered(cache):
    texts = ToolTexts(most=2)
    for server in ("a", "b", "c"):
        texts.of(server, TOOLS)
    assert list(texts._texts) == ["b", "c"]


def test_old_files_of_a_server_are_looked_for_once(cache, monkeypatch):
    old = replace(KNOWN, config_hash="old")
    cache.write(KNOWN)
    cache.write(old)
    for each in ("hash", "old"):
        os.utime(path_in(cache, "git", each), (0, 0))
    cache.write(KNOWN)
    assert cache.read("git", "old").known == old
    cache_in(path_in(cache, "git", "hash").parent).write(KNOWN)
    assert cache.read("git", "old").known is None
