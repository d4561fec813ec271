import json
import stat
from functools import partial
from pathlib import Path

import pytest

from tests.racing import raced
from toolcrib.errors import ConfigError
from toolcrib.sources.mcp import OwnServersFile

OLD = {"version": 3, "mcpServers": {"z": {"command": "z", "x-note": 1}, "a": {"url": "http://a"}}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "servers.json"
    path.write_text(json.dumps(OLD))
    return path


def test_the_rest_stays_as_it_is_and_where_it_is(file: Path):
    OwnServersFile(file).put("m", {"command": "m", "args": ["--ö"]})
    written = json.loads(file.read_text())
    assert list(written) == ["version", "mcpServers"]
    assert list(written["mcpServers"]) == ["z", "a", "m"]
    assert written["mcpServers"]["z"] == {"command": "z", "x-note": 1}
    assert "--ö" in file.read_text()
    assert OwnServersFile(file).drop("m")
    assert json.loads(file.read_text()) == OLD
    assert not OwnServersFile(file).drop("m")


def test_a_file_that_is_not_there_is_made_for_us_alone(tmp_path: Path):
    path = tmp_path / "new" / "servers.json"
    assert not OwnServersFile(path).drop("a")
    OwnServersFile(path).put("a", {"command": "x"})
    assert json.loads(path.read_text()) == {"mcpServers": {"a": {"command": "x"}}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}'])
def test_a_file_that_cannot_be_understood_is_left_alone(tmp_path: Path, text: str):
    path = tmp_path / "servers.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match="correct it"):
        OwnServersFile(path).put("a", {"command": "x"})
    assert path.read_text() == text


@pytest.mark.parametrize("entry", [{}, {"url": "ftp://x"}, {"command": "x", "argz": []}])
def test_an_entry_that_means_nothing_is_not_written(file: Path, entry: dict[str, object]):
    before = file.read_text()
    with pytest.raises(ConfigError):
        OwnServersFile(file).put("m", entry)  # pyright: ignore[reportArgumentType]
    assert file.read_text() == before


def test_a_link_stays_a_link(file: Path, tmp_path: Path):
    link = tmp_path / "link.json"
    link.symlink_to(file)
    OwnServersFile(link).put("m", {"command": "m"})
    assert link.is_symlink()
    assert "m" in json.loads(file.read_text())["mcpServers"]


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "in-the-way").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        OwnServersFile(tmp_path / "in-the-way" / "servers.json").put("a", {"command": "x"})


def put_some(path: Path, name: str) -> None:
    for number in range(15):
        OwnServersFile(path).put(f"{name}-{number}", {"command": name})


def drop_some(path: Path, name: str) -> None:
    for number in range(15):
        assert OwnServersFile(path).drop(f"{name}-{number}")


def test_of_servers_that_several_processes_add_none_is_lost_and_none_comes_back(file: Path):
    put_some(file, "old")
    raced(*(partial(put_some, file, name) for name in "abc"), partial(drop_some, file, "old"))
    names = set(json.loads(file.read_text())["mcpServers"])
    assert names == {"z", "a", *(f"{name}-{number}" for name in "abc" for number in range(15))}


def test_a_name_that_another_entry_has_is_refused(file: Path):
    with pytest.raises(ConfigError, match="already"):
        OwnServersFile(file).put("z", {"command": "another"})
    assert json.loads(file.read_text()) == OLD
    OwnServersFile(file).put("a", {"url": "http://a"})
