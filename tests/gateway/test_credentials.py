import json
import os
from functools import partial
from pathlib import Path

import pytest

from tests.racing import raced
from toolcrib.errors import ConfigError
from toolcrib.gateway import Keys
from toolcrib.gateway import credentials as module
from toolcrib.settings import GatewaySettings


def test_a_key_is_good_from_the_moment_it_is_made_until_it_is_removed(tmp_path: Path):
    operator, daemon = Keys(tmp_path), Keys(tmp_path)
    assert not daemon.good("tc_whatever")
    secret = operator.add("laptop", ["a", "b"])
    found = daemon.good(secret)
    assert found
    assert (found.name, found.profiles) == ("laptop", ("a", "b"))
    other = operator.add("other")
    assert daemon.good(other)
    operator.remove("laptop")
    assert not daemon.good(secret)
    assert daemon.good(other)


def test_what_is_kept_tells_no_key(tmp_path: Path):
    keys = Keys(tmp_path)
    secret = keys.add("laptop")
    assert secret.removeprefix("tc_") not in keys.file.read_text(encoding="utf-8")
    assert keys.file.stat().st_mode & 0o777 == 0o600
    assert len(secret) > 40


def test_two_keys_are_never_alike(tmp_path: Path):
    keys = Keys(tmp_path)
    assert keys.add("a") != keys.add("b")
    one, other = keys.all()
    assert one.salt != other.salt
    assert one.hashed != other.hashed


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 65, "ключ", "a\n"])
def test_a_name_is_plain(tmp_path: Path, name: str):
    with pytest.raises(ConfigError, match="not a name for a key"):
        Keys(tmp_path).add(name)


def test_a_name_is_given_once_and_a_wrong_one_is_helped(tmp_path: Path):
    keys = Keys(tmp_path)
    keys.add("laptop")
    with pytest.raises(ConfigError, match="keys remove laptop"):
        keys.add("laptop")
    with pytest.raises(ConfigError, match="nearest: laptop"):
        keys.remove("labtop")


def test_there_is_an_end_to_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    keys = Keys(tmp_path)
    keys.add("a")
    monkeypatch.setattr(module, "MOST_KEYS", 1)
    with pytest.raises(ConfigError, match="remove one"):
        keys.add("one-more")


def made(folder: Path, name: str, count: int) -> list[str]:
    keys = Keys(folder)
    return [keys.add(f"{name}-{number}") for number in range(count)]


def removed(folder: Path, count: int) -> list[str]:
    keys = Keys(folder)
    for number in range(count):
        keys.remove(f"old-{number}")
    return []


def test_of_keys_that_several_processes_make_none_is_lost(tmp_path: Path):
    secrets = raced(*(partial(made, tmp_path, name, 15) for name in "abc"))
    keys = Keys(tmp_path)
    assert len(keys.all()) == 45
    assert all(keys.good(secret) for some in secrets for secret in some)


def test_a_key_that_was_removed_stays_removed_whoever_makes_others_meanwhile(tmp_path: Path):
    gone = made(tmp_path, "old", 20)
    _, new = raced(partial(removed, tmp_path, 20), partial(made, tmp_path, "new", 20))
    keys = Keys(tmp_path)
    assert [key.name for key in keys.all() if key.name.startswith("old")] == []
    assert not any(keys.good(secret) for secret in gone)
    assert all(keys.good(secret) for secret in new)


def test_a_change_within_one_tick_of_the_clock_is_seen(tmp_path: Path):
    operator, daemon = Keys(tmp_path), Keys(tmp_path)
    secret = operator.add("one")
    assert daemon.good(secret)
    facts = operator.file.stat()
    taken_back = operator.file.read_text().replace(operator.all()[0].hashed, "0" * 64)
    operator.file.write_text(taken_back)  # the same inode and size, and then the same time
    os.utime(operator.file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert not daemon.good(secret)


GOOD = {"name": "a", "profiles": ["p"], "salt": "s", "hashed": "h", "made_at": 1}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}x",
        "3",
        "[3]",
        json.dumps([{**GOOD, "profiles": []}]),
        json.dumps([{name: value for name, value in GOOD.items() if name != "salt"}]),
        json.dumps([{**GOOD, "made_at": "x"}]),
    ],
)
def test_a_damaged_file_is_an_error_and_never_no_keys(tmp_path: Path, content: str):
    keys = Keys(tmp_path)
    keys.file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match="no key works"):
        keys.good("tc_x")


def test_a_link_is_not_followed(tmp_path: Path):
    (tmp_path / "there").mkdir()
    secret = Keys(tmp_path / "there").add("laptop")
    keys = Keys(tmp_path)
    keys.file.symlink_to(tmp_path / "there" / "keys.json")
    with pytest.raises(ConfigError, match="cannot be read"):
        keys.good(secret)


def test_a_key_to_metrics_opens_no_profile_whatever_its_file_says(tmp_path: Path):
    keys = Keys(tmp_path)
    secret = keys.add("prometheus", ["default"], metrics=True)
    (kept,) = json.loads(keys.file.read_text())
    assert kept["profiles"] == []
    keys.file.write_text(json.dumps([kept | {"profiles": ["default"]}]))
    check = module.Authenticator(GatewaySettings(), Keys(tmp_path))
    assert check.scraper(secret) == "prometheus"
    with pytest.raises(module.ProfileForbidden, match=r"it is good for: /metrics"):
        check.keyed(secret, "default")


def test_a_key_without_a_profile_is_none_unless_it_is_to_metrics(tmp_path: Path):
    keys = Keys(tmp_path)
    keys.add("laptop")
    (kept,) = json.loads(keys.file.read_text())
    keys.file.write_text(json.dumps([kept | {"profiles": [], "metrics": "true"}]))
    with pytest.raises(ConfigError):
        Keys(tmp_path).all()
