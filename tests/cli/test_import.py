import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.takeover.configs import CONFIGS
from toolcrib.config import Settings, own_servers_file
from toolcrib.takeover.clients import CLIENTS, client_named
from toolcrib.takeover.document import read, table

every_client = pytest.mark.parametrize("name", list(CONFIGS))


def put(home: Path, name: str) -> Path:
    path = home / CONFIGS[name].file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(CONFIGS[name].text.encode())
    return path


def entries(name: str, path: Path) -> Any:
    client = client_named(name)
    document = read(path.read_text(), client.syntax)
    return table(document, client.layout(document).path)


def ours() -> Any:
    return json.loads(own_servers_file().read_text())["mcpServers"]


def backups() -> list[Path]:
    return sorted((Settings().state_folder / "takeover").glob("*"))


def test_every_client_has_a_config_here():
    assert {client.name for client in CLIENTS} == {*CONFIGS}


@every_client
def test_servers_go_over_the_shim_stays_and_undo_is_exact(run: Run, home: Path, name: str):
    path = put(home, name)
    path.chmod(0o640)
    (told,) = run("import", "--client", name, "--yes", "--json").json
    assert told["done"]
    assert tuple(told["moved"]) == CONFIGS[name].taken
    assert tuple(told["left"]) == CONFIGS[name].left
    assert {*ours()} == {*CONFIGS[name].taken}
    assert {*entries(name, path)} == {"toolcrib", *CONFIGS[name].left}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (told,) = run("import", "--client", name, "--undo", "--yes", "--json").json
    assert told["done"]
    assert path.read_bytes() == CONFIGS[name].text.encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert ours() == {}
    assert backups() == []


@every_client
def test_a_second_import_changes_nothing(run: Run, home: Path, name: str):
    path = put(home, name)
    run("import", "--client", name, "--yes")
    written, kept, own = path.read_bytes(), backups(), own_servers_file().read_bytes()
    (told,) = run("import", "--client", name, "--yes", "--json").json
    assert not told["changes"]
    assert (path.read_bytes(), backups(), own_servers_file().read_bytes()) == (written, kept, own)
