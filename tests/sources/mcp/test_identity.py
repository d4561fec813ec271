import stat

import pytest

from toolcrib.errors import SourceError
from toolcrib.sources.mcp import ServerAddress, ServerCommand
from toolcrib.sources.mcp.identity import config_hash
from toolcrib.store import install_key

KEY = bytes(32)
SAME = ServerCommand("x", ("a",), {"T": "1"}, {"E": "OURS"}, "/")


@pytest.mark.parametrize(
    "other",
    [
        ServerCommand("y", ("a",), {"T": "1"}, {"E": "OURS"}, "/"),
        ServerCommand("x", ("b",), {"T": "1"}, {"E": "OURS"}, "/"),
        ServerCommand("x", ("a",), {"U": "1"}, {"E": "OURS"}, "/"),
        ServerCommand("x", ("a",), {"T": "${S}"}, {"E": "OURS"}, "/"),
        ServerCommand("x", ("a",), {"T": "1"}, {"E": "THEIRS"}, "/"),
        ServerCommand("x", ("a",), {"T": "1"}, {"E": "OURS"}, "/tmp"),
        ServerAddress("x"),
    ],
)
def test_another_server_has_another_hash(other):
    assert config_hash(SAME, KEY) != config_hash(other, KEY)


def test_the_value_of_a_variable_does_not_count():
    changed = ServerCommand("x", ("a",), {"T": "2"}, {"E": "OURS"}, "/")
    assert config_hash(SAME, KEY) == config_hash(changed, KEY)
    one, two = ServerAddress("https://x", {"A": "1"}), ServerAddress("https://x", {"A": "2"})
    assert config_hash(one, KEY) == config_hash(two, KEY)


def test_another_installation_has_another_hash():
    assert config_hash(SAME, KEY) != config_hash(SAME, b"1" * 32)


def test_the_key_is_made_once_and_for_us_alone(tmp_path):
    path = tmp_path / "state" / "install.key"
    key = install_key(path)
    assert len(key) == 32
    assert install_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_damaged_key_is_refused(tmp_path):
    path = tmp_path / "install.key"
    path.write_bytes(b"short")
    with pytest.raises(SourceError, match="remove it"):
        install_key(path)
