"""The servers of a shared store, edited and read in the files of this machine."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.postgres import KEY
from toolcrib import Crib
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.crib import SharedDocuments, inventory_of
from toolcrib.dashboard import Operations
from toolcrib.errors import StoreAway, StoreError
from toolcrib.settings import load_settings, own_servers_file
from toolcrib.store import ReplicaStores
from toolcrib.store.postgres import DatabaseAddress
from toolcrib.wiring import replica_stores_of

SHOP = {"mcpServers": {"shop": {"command": "shop"}}}


class SharedServers:
    """What the shared store has as `servers.json`."""

    def __init__(self, address: DatabaseAddress, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        patch.setenv("TOOLCRIB_STORE", address.text)
        patch.setenv("TOOLCRIB_INSTALL_KEY_ENV", "KEY_OF_ALL")
        patch.setenv("TOOLCRIB_BUILTIN_TOOLS", "false")
        patch.setenv("KEY_OF_ALL", KEY.hex())
        with self._stores() as stores:
            stores.documents.put_document("servers.json", json.dumps(SHOP).encode(), None)

    def read(self) -> dict[str, dict[str, object]]:
        with self._stores() as stores:
            found = stores.documents.document("servers.json")
        assert found
        return json.loads(found.content)

    def go_away(self) -> None:
        self._patch.setenv("TOOLCRIB_STORE", "postgresql://toolcrib@127.0.0.1:1/x")

    @contextmanager
    def _stores(self) -> Generator[ReplicaStores]:
        with replica_stores_of(load_settings(os.environ), os.environ) as stores:
            yield stores


@pytest.fixture
def shared(new_address: DatabaseAddress, monkeypatch: pytest.MonkeyPatch) -> SharedServers:
    return SharedServers(new_address, monkeypatch)


def test_a_switch_of_the_dashboard_is_sent_to_all(shared: SharedServers):
    Operations(lambda: load_settings(os.environ), lambda _do, /, **_: None).switch("shop", on=False)
    assert shared.read()["mcpServers"]["shop"] == {"command": "shop", "disabled": True}
    assert json.loads(own_servers_file().read_text()) == shared.read()


def test_nothing_is_switched_on_one_machine_alone(shared: SharedServers):
    options = GlobalOptions()
    assert options.settings().mcp_config == (own_servers_file(),)  # it was fetched
    before = own_servers_file().read_bytes()
    shared.go_away()
    operations = Operations(lambda: load_settings(os.environ), lambda _do, /, **_: None)
    with pytest.raises(StoreAway):
        operations.switch("shop", on=False)
    assert own_servers_file().read_bytes() == before


def test_what_was_edited_while_the_store_is_away_is_put_back(shared: SharedServers):
    """As a command does it: it may read what was known before, and change nothing."""
    GlobalOptions().settings()
    before = own_servers_file().read_bytes()
    shared.go_away()
    documents = SharedDocuments()
    with pytest.raises(StoreAway):
        documents.fetch(load_settings(os.environ))
    documents.send()  # nothing was edited
    own_servers_file().write_bytes(b"{}")
    with pytest.raises(StoreError, match="nothing was changed"):
        documents.send()
    assert own_servers_file().read_bytes() == before


def test_a_program_has_the_servers_that_come_after_its_settings_were_read(shared: SharedServers):
    settings = load_settings(os.environ)
    assert not own_servers_file().exists()
    with Crib.from_settings(settings) as crib:
        assert [*inventory_of(crib).servers] == ["shop"]
    assert shared
