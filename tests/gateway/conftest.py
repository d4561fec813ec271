"""What the tests of several tenants begin with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.tenancy import KEY_VARIABLE, Site, site_at
from tests.postgres import KEY
from toolcrib.store.postgres import DatabaseAddress


@pytest.fixture
def site(
    new_address: DatabaseAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """A shared store of several tenants, and the files of one gateway beside it."""
    monkeypatch.setenv(KEY_VARIABLE, KEY.hex())
    with site_at(new_address, tmp_path) as site:
        yield site
