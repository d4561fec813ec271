from collections.abc import Iterator

import pytest

from toolcrib.store import SqliteStore


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with SqliteStore.open(":memory:") as store:
        yield store
