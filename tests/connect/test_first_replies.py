"""The first replies count only if nothing has changed, and only for whom they were kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.connect.fakes import environ, files_in
from tests.connect.kept import GREETING, LISTED, greet, keep, listing
from toolcrib.connect import FirstReplies, FirstRequests, read_surface
from toolcrib.connect.daemon_files import KEY_VARIABLE

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


def replies_in(folder: Path, profile: str = "default", **more: str) -> FirstReplies:
    return FirstReplies(files_in(folder), profile, {**environ(folder), **more})


def said(replies: FirstReplies, request: dict[str, Any]) -> Any:
    reply = replies.reply(json.dumps(request).encode() + b"\n")
    return json.loads(reply) if reply else None


def test_a_request_that_is_known_has_its_reply_under_its_own_id(tmp_path: Path):
    keep(tmp_path)
    replies = replies_in(tmp_path)
    assert said(replies, greet("x")) == {"jsonrpc": "2.0", "id": "x", "result": GREETING}
    assert said(replies, listing(7))["result"] == LISTED
    assert set(replies.given) == {'"x"', "7"}


@pytest.mark.parametrize(
    "request_",
    [
        listing(1),  # of a client that has not said who it is
        greet(1, name="another"),
        greet(1, version="2024-11-05"),
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tool_search"}},
        {"jsonrpc": "2.0", "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": None, "method": "initialize", "params": []},
        [1],
    ],
)
def test_any_other_waits(tmp_path: Path, request_: Any):
    keep(tmp_path)
    assert said(replies_in(tmp_path), request_) is None


def test_a_second_page_and_a_second_request_of_one_id_wait(tmp_path: Path):
    keep(tmp_path)
    replies = replies_in(tmp_path)
    said(replies, greet(1))
    assert said(replies, greet(1)) is None
    assert said(replies, listing(2, cursor="more")) is None


def test_another_profile_has_its_own(tmp_path: Path):
    keep(tmp_path)
    assert said(replies_in(tmp_path, "small"), greet(1)) is None


def test_whoever_comes_with_a_key_waits(tmp_path: Path):
    keep(tmp_path)
    assert said(replies_in(tmp_path, **{KEY_VARIABLE: "k"}), greet(1)) is None


def test_nothing_counts_once_a_file_is_another(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("a = 1")
    keep(tmp_path, file)
    assert said(replies_in(tmp_path), greet(1))
    file.write_text("a = 12")
    assert said(replies_in(tmp_path), greet(1)) is None
    file.unlink()
    assert read_surface(files_in(tmp_path)) == {}


def test_a_file_that_came_since_counts_too(tmp_path: Path):
    file = tmp_path / "rules.toml"
    keep(tmp_path, file)
    assert said(replies_in(tmp_path), greet(1))
    file.write_text("")
    assert said(replies_in(tmp_path), greet(1)) is None


def test_what_others_may_write_is_not_believed(tmp_path: Path):
    path = keep(tmp_path)
    path.chmod(0o622)
    assert read_surface(files_in(tmp_path)) == {}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"files": {}}', b"[" * 100_000])
def test_what_is_broken_is_nothing(tmp_path: Path, content: bytes):
    path = keep(tmp_path)
    path.write_bytes(content)
    assert said(replies_in(tmp_path), greet(1)) is None


def test_a_link_is_not_followed(tmp_path: Path):
    path = keep(tmp_path)
    real = path.rename(tmp_path / "elsewhere")
    path.symlink_to(real)
    assert read_surface(files_in(tmp_path)) == {}


def test_another_list_than_the_gateways_is_noticed_once(tmp_path: Path):
    keep(tmp_path)
    replies = replies_in(tmp_path)
    for id, request in enumerate((greet(0), listing(1), listing(2))):
        assert said(replies, {**request, "id": id})
    assert not replies.lists_others("0", {**GREETING, "instructions": "others"})
    assert not replies.lists_others("1", LISTED)
    assert replies.lists_others("2", {"tools": []})
    assert not replies.given


def test_in_the_modern_era_the_name_of_a_client_does_not_count():
    requests = FirstRequests()
    for method in ("server/discover", "tools/list"):
        names = {requests.name(method, {"_meta": {**MODERN, "x": each}}) for each in (1, 2)}
        assert len(names) == 1
        assert "" not in names
    assert not requests.name("tools/list", {})
