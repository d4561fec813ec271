import pytest

from tests.embed.loopback import serving


@pytest.fixture
def loopback():
    with serving() as server:
        yield server
