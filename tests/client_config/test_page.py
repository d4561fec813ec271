"""The page of the clients says what the table says."""

import re
from pathlib import Path

import pytest

from toolcrib.client_config import CLIENTS, Client
from toolcrib.client_config.clients import CHECKED
from toolcrib.client_config.document import edit_document
from toolcrib.client_config.files import FileLocation, Platform
from toolcrib.client_config.shim import SHIM_NAME, ShimCommand, shim_entry

PAGE = (Path(__file__).parents[2] / "docs/guide/clients.md").read_text(encoding="utf-8")
every_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
ROOTS = {"xdg": "~/.config/", "library": "~/Library/Application Support/", "codex": "~/.codex/"}
RELAXED = {True: "yes", False: "no", None: "not confirmed"}


def section(client: Client) -> str:
    found = re.search(rf"^## {client.title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def shown(place: FileLocation, platform: Platform) -> str:
    root = "%APPDATA%/" if place.base == "roaming" else ROOTS.get(place.base, "~/")
    path = root + place.file
    return path.replace("/", "\\") if platform == "windows" else path


def test_the_day_of_the_facts_is_told():
    assert f"on {CHECKED}" in PAGE


@every_client
def test_the_table_has_every_file_and_key(client: Client):
    rows = [line for line in PAGE.splitlines() if line.startswith(f"| `{client.name}` |")]
    files = {shown(each, platform) for platform in client.files for each in client.files[platform]}
    same = {shown(each, "windows") for each in client.files["linux"]}
    assert all(f"`{file}`" in rows[0] for file in files - same)
    project = client.project[0] if client.project else "none"
    keys = " or ".join(f"`{'.'.join(layout.path)}`" for layout in client.layouts)
    assert rows[1] == (
        f"| `{client.name}` | `{project}` | {keys} | {RELAXED[client.relaxed]} |".replace(
            "`none`", "none"
        )
    )


@every_client
def test_the_snippet_is_the_shim_that_an_import_writes(client: Client):
    entry = shim_entry(client, client.layouts[0].format, ShimCommand("/path/to/toolcrib"))
    snippet = edit_document("", client.syntax, client.layouts[0].path, (), {SHIM_NAME: entry})
    language = "toml" if client.syntax == "toml" else "json"
    assert f"```{language}\n{snippet}```\n" in section(client)


@every_client
def test_the_steps_are_told(client: Client):
    text = section(client)
    assert f"toolcrib import --client {client.name}" in text
    assert client.source in text
    assert "**Look**" in text
    for words in client.unconfirmed:
        assert words in " ".join(text.split()), words


def test_what_stays_in_the_client_is_told():
    for client in CLIENTS:
        for key in client.layouts[0].format.narrowing:
            assert f"`{key}`" in PAGE, key
