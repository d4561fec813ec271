"""All that lasts goes into a database and comes back, counted, and as it was."""

import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toolcrib.errors import ConfigError, StoreError
from toolcrib.model import Event
from toolcrib.settings import Settings
from toolcrib.store import (
    Decision,
    FileStores,
    KeyHash,
    Login,
    StoredKey,
    UseLesson,
    UseLessonKey,
    UsePair,
    UseRecord,
)
from toolcrib.store.postgres import DatabaseAddress
from toolcrib.store.source_protocol import ListingHead, ListingKey, StoredListing
from toolcrib.wiring import file_stores_of

SERVER = ListingKey("server", "hash")
BODY = b'{"server": "server", "config_hash": "hash", "listing": {"tools": []}}'
LISTED = StoredListing(ListingHead("a" * 64, 1.5, 0.5), BODY)
LOGIN = Login("https://x", {"access_token": "t"}, {"client_id": "c"}, 9.0)
NOW = time.time()


def fill(stores: FileStores) -> None:
    stores.decisions.trust("mcp:x#1", {"a": ("pin", "{}"), "b": ("pin", "{}")})
    stores.decisions.configured("mcp:x#1", '{"command": "x"}')
    stores.decisions.reject(Decision("mcp:x#1", "b", "rejected", "pin", "operator", 2.5, "{}"))
    stores.keys.add(StoredKey("id", "laptop", ("default",), ("call",), KeyHash("s", "h"), 1.0))
    stores.logins.write("server", LOGIN)
    stores.documents.put_document("servers.json", b'{"mcpServers": {}}', None)
    stores.listings.put_listing(SERVER, LISTED)
    stores.listings.put_failure(SERVER, b"{}")
    stores.events.write([Event(NOW, "call", name=f"tool\0{each}", seconds=0.5) for each in "ab"])
    lesson = {UseLessonKey(b"rights", b"word", "a"): UseLesson(1, 1.0, 1)}
    stores.catalog.keep_used(UseRecord({UsePair("a", "b"): 3}, lesson), half_life_days=1.0)
    stores.catalog.add_reveals("ann", "session", ["b", "a"])


def told(stores: FileStores) -> list[object]:
    """All that is told of what `fill` has put there."""
    return [
        stores.decisions.filed(),
        stores.decisions.trusts_first_sight,
        stores.keys.all(),
        stores.logins.read("server", "https://x"),
        stores.documents.document("servers.json"),
        stores.listings.listing(SERVER),
        stores.listings.failure(SERVER),
        [*stores.events.newest(10).items()],
        stores.events.rollups(0),
        stores.catalog.used(),
        stores.catalog.reveals("ann", "session"),
    ]


def without_nul(told: object) -> str:
    return repr(told).replace("\\x00", "\ufffd")


@pytest.fixture
def address(new_address: DatabaseAddress, monkeypatch: pytest.MonkeyPatch) -> str:
    key = Settings().state_folder / "install.key"
    monkeypatch.setenv("TOOLCRIB_INSTALL_KEY_FILE", str(key))
    return new_address.text


def test_it_goes_there_and_comes_back_as_it_was(
    run: Run, address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    stores = file_stores_of(Settings())
    fill(stores)
    before = told(stores)
    stores.close()
    into = run("db", "copy", "files", address, "--json").json
    assert all(each["read"] == each["written"] >= 1 for each in into), into
    kinds = {each["kind"]: each["read"] for each in into}
    assert (kinds["decisions"], kinds["events"], kinds["sources"]) == (2, 2, 1)

    key = tmp_path / "key"
    key.write_bytes((Settings().state_folder / "install.key").read_bytes())
    monkeypatch.setenv("TOOLCRIB_INSTALL_KEY_FILE", str(key))
    monkeypatch.setenv("HOME", str(tmp_path / "another machine"))
    back = run("db", "copy", address, "files", "--json").json
    assert back == into
    stores = file_stores_of(Settings())
    assert without_nul(told(stores)) == without_nul(before)
    stores.close()


def test_what_is_there_is_replaced_only_if_that_is_said(run: Run, address: str):
    stores = file_stores_of(Settings())
    fill(stores)
    run("db", "copy", "files", address)
    refused = run("db", "copy", "files", address)
    assert isinstance(refused.error, StoreError)
    assert "2 decisions" in str(refused.error)
    assert "--replace" in str(refused.error)
    stores.decisions.approve(Decision("mcp:x#1", "b", "approved", "new", "operator", 3.0, "{}"))
    stores.keys.remove("laptop")
    stores.logins.forget("server")
    stores.listings.forget_listing(SERVER)
    stores.close()
    again = {
        each["kind"]: each
        for each in run("db", "copy", "files", address, "--replace", "--json").json
    }
    assert again["keys"] == {"kind": "keys", "read": 0, "written": 0}
    assert again["logins"]["written"] == again["listings"]["written"] == 0
    assert again["decisions"]["written"] == 2
    assert run("db", "copy", "files", address, "--replace").code == 0, "it can be repeated"
    assert run("db", "copy", "files", address, "--tenant", "another").code == 0


def test_another_install_key_is_refused(run: Run, address: str, monkeypatch: pytest.MonkeyPatch):
    stores = file_stores_of(Settings())
    fill(stores)
    stores.close()
    monkeypatch.delenv("TOOLCRIB_INSTALL_KEY_FILE")
    monkeypatch.setenv("TOOLCRIB_INSTALL_KEY_ENV", "KEY")
    monkeypatch.setenv("KEY", "00" * 32)
    refused = run("db", "copy", "files", address)
    assert "different install keys" in str(refused.error)


@pytest.mark.parametrize("words", [("files", "files"), ("postgresql://h/a", "postgresql://h/b")])
def test_one_end_is_a_database(run: Run, words: tuple[str, str]):
    refused = run("db", "copy", *words)
    assert isinstance(refused.error, ConfigError)
    assert "one of FROM and TO has to be a database" in str(refused.error)
