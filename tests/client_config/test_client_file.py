"""The file of one client: where it is, the shims in it, and the servers that we have too."""

import json
from pathlib import Path

import pytest

from toolcrib.client_config import CLIENTS, ClientDocument, ClientFile, client_files, client_named
from toolcrib.client_config.client_file import files_of
from toolcrib.errors import ConfigError
from toolcrib.sources.mcp import read_table

ENTRIES = {
    "toolcrib": {"command": "/opt/bin/toolcrib", "args": ["connect"]},
    "files": {"command": "npx", "args": ["-y", "files-server"]},
    "odd": {"command": "odd", "args": ["${env:HERE}"]},
}


@pytest.fixture
def document(tmp_path: Path) -> ClientDocument:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": ENTRIES}), encoding="utf-8")
    return ClientFile(client_named("cursor"), path, tmp_path).read()


def test_the_shims_are_told_by_their_command(document: ClientDocument):
    assert document.shims == {"toolcrib": "/opt/bin/toolcrib"}


def test_a_server_of_ours_is_the_same_by_what_it_starts(document: ClientDocument, tmp_path: Path):
    entries = {"docs": ENTRIES["files"], "other": {"command": "npx", "args": ["other"]}}
    ours = read_table(tmp_path / "servers.json", entries).servers
    assert document.same_servers("files", ours) == ["docs"]
    assert document.same_servers("odd", ours) == []  # it cannot be converted, so nobody knows


def test_a_file_that_is_broken_is_named(tmp_path: Path):
    path = tmp_path / "mcp.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"{path}: .*; nothing was changed"):
        ClientFile(client_named("cursor"), path, tmp_path).read()


def test_every_client_has_a_file_of_the_user(home: Path):
    files = client_files()
    assert {each.client.name for each in files} == {client.name for client in CLIENTS}
    assert all(each.path.is_relative_to(home) and each.project is None for each in files)


def test_in_a_project_the_files_that_are_there_are_taken(tmp_path: Path):
    client = client_named("opencode")
    assert [each.path.name for each in files_of(client, tmp_path)] == ["opencode.json"]
    (tmp_path / "opencode.jsonc").touch()
    [file] = files_of(client, tmp_path)
    assert (file.path, file.project) == (tmp_path / "opencode.jsonc", tmp_path)
