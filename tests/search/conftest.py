from collections.abc import Iterator

import pytest

from tests.workshop import ENGINES, HIDDEN, SEEN, pooled, searching
from toolcrib.access import Scope, search_filter
from toolcrib.model import EntryGroups
from toolcrib.search import Search


@pytest.fixture(scope="module", params=ENGINES)
def search(request: pytest.FixtureRequest) -> Iterator[Search]:
    """A search over the small catalog, for a caller about whom nothing is said."""
    entries = pooled(*SEEN, *HIDDEN)
    with searching(
        request.param, entries, hidden=search_filter(EntryGroups.of(entries), Scope())
    ) as search:
        yield search
