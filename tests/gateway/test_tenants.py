"""A gateway of one tenant: whoever has a key of another is nobody here."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.postgres import KEY
from toolcrib.gateway.credentials import AccessDenied, Authenticator
from toolcrib.gateway.keys import Keys
from toolcrib.settings import GatewaySettings
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    PostgresStores,
    SharedDatabase,
    TenantPlaces,
)


@pytest.fixture
def shared(new_address: DatabaseAddress) -> Iterator[SharedDatabase]:
    with closing(SharedDatabase(Database(new_address))) as shared:
        yield shared


def test_a_key_of_another_tenant_opens_nothing(shared: SharedDatabase, tmp_path: Path):
    with ExitStack() as stack:
        keys: dict[str, Keys] = {}
        for tenant in ("acme", "globex"):
            places = TenantPlaces(tenant, tmp_path / tenant, KEY, None)
            stores = stack.enter_context(closing(PostgresStores(shared, places)))
            keys[tenant] = Keys(stores.keys)
        shown = keys["acme"].add("ann")
        ours = Authenticator(GatewaySettings(), keys["acme"], tenant="acme")
        theirs = Authenticator(GatewaySettings(), keys["globex"], tenant="globex")
        assert ours.keyed(shown).tenant == "acme"
        with pytest.raises(AccessDenied, match="not known here"):
            theirs.keyed(shown)
