import hashlib
import json
from functools import partial
from pathlib import Path

import pytest

from tests.racing import raced
from toolcrib.errors import ConfigError, StoreError, ToolcribError
from toolcrib.gateway import KeyTerms, keys_in
from toolcrib.gateway.keys import NEVER, Keys
from toolcrib.store import KeyFile

OLD = "tc_" + "k" * 43
"""A key as they were before they had an id."""


class Clock:
    """A wall clock that a test puts forward."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def with_clock(folder: Path) -> tuple[Keys, Clock]:
    clock = Clock()
    return Keys(KeyFile(folder / "keys.db"), clock), clock


def name_of(keys: Keys, shown: str) -> str | None:
    good = keys.good(shown)
    return good.key.name if good else None


def former(name: str = "old", shown: str = OLD, **others: object) -> dict[str, object]:
    """A key as `keys.json` had it."""
    hashed = hashlib.sha256(f"s:{shown}".encode()).hexdigest()
    made = {"name": name, "profiles": ["p"], "salt": "s", "hashed": hashed, "made_at": 1}
    return {**made, **others}


def test_a_key_is_good_from_the_moment_it_is_made_until_it_is_removed(tmp_path: Path):
    operator, daemon = keys_in(tmp_path), keys_in(tmp_path)
    assert not daemon.good("tc_whatever")
    shown = operator.add("laptop", KeyTerms(("a", "b")))
    found = daemon.good(shown)
    assert found
    assert (found.key.name, found.key.profiles, found.until) == ("laptop", ("a", "b"), NEVER)
    other = operator.add("other")
    assert daemon.good(other)
    operator.remove("laptop")
    assert not daemon.good(shown)
    assert not daemon.good_until(found.key.id, found.hashed)
    assert daemon.good(other)


def test_what_is_kept_tells_no_key(tmp_path: Path):
    keys = keys_in(tmp_path)
    shown = keys.add("laptop")
    id = keys.all()[0].id
    secret = shown.removeprefix(f"tc_{id}_").encode()
    files = [*tmp_path.glob("keys.db*")]
    assert not any(secret in file.read_bytes() for file in files)
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert len(secret) == len(shown) - len(f"tc_{id}_") > 40


def test_a_key_is_found_by_its_id_and_only_with_its_secret(tmp_path: Path):
    keys = keys_in(tmp_path)
    one, other = keys.add("one"), keys.add("other")
    id = one[:16]
    assert id.startswith("tc_")
    assert not keys.good(id + other[16:])
    assert not keys.good(one[:-1] + ("A" if one[-1] != "A" else "B"))
    assert not keys.good(one + "A")
    assert not keys.good(one.upper())
    assert [each.id for each in keys.all() if each.name == "one"] == [one[3:15]]


def test_two_keys_are_never_alike(tmp_path: Path):
    keys = keys_in(tmp_path)
    assert keys.add("a") != keys.add("b")
    one, other = keys.all()
    assert one.secret.salt != other.secret.salt
    assert one.secret.hashed != other.secret.hashed
    assert one.id != other.id


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "x" * 65, "ключ", "a\n"])
def test_a_name_is_plain(tmp_path: Path, name: str):
    with pytest.raises(ConfigError, match="not a name for a key"):
        keys_in(tmp_path).add(name)


def test_a_name_is_given_once_and_a_wrong_one_is_helped(tmp_path: Path):
    keys = keys_in(tmp_path)
    keys.add("laptop")
    with pytest.raises(ConfigError, match="keys remove laptop"):
        keys.add("laptop")
    with pytest.raises(ConfigError, match="nearest: laptop"):
        keys.remove("labtop")
    with pytest.raises(ConfigError, match="nearest: laptop"):
        keys.rotate("labtop")


def test_a_key_works_until_it_expires(tmp_path: Path):
    keys, clock = with_clock(tmp_path)
    shown = keys.add("laptop", KeyTerms(expires_at=clock.now + 10))
    found = keys.good(shown)
    assert found
    assert found.until == clock.now + 10
    clock.now += 9.9
    assert keys.good_until(found.key.id, found.hashed)
    clock.now += 0.1
    assert not keys.good(shown)
    assert not keys.good_until(found.key.id, found.hashed)
    assert [each.name for each in keys.all()] == ["laptop"]
    renewed = keys.rotate("laptop", expires_at=clock.now + 10)
    assert keys.good(renewed)
    assert not keys.good(shown)


def test_a_rotation_replaces_the_secret_and_nothing_else(tmp_path: Path):
    keys, clock = with_clock(tmp_path)
    terms = KeyTerms(("a",), ("search",), clock.now + 99, rate=5, at_once=2)
    before = keys.add("laptop", terms)
    after = keys.rotate("laptop")
    assert not keys.good(before)
    found = keys.good(after)
    assert found
    key = found.key
    kept = (key.profiles, key.scopes, key.expires_at, key.rate, key.at_once)
    assert kept == (("a",), ("search",), terms.expires_at, 5, 2)


def test_within_the_grace_of_a_rotation_both_secrets_work(tmp_path: Path):
    keys, clock = with_clock(tmp_path)
    first = keys.add("laptop")
    second = keys.rotate("laptop", grace_s=60)
    old = keys.good(first)
    assert old
    assert old.until == clock.now + 60
    assert keys.good(second)
    third = keys.rotate("laptop", grace_s=60)
    assert not keys.good(first)  # of three, the oldest is forgotten
    assert keys.good(second)
    clock.now += 60
    assert not keys.good(second)
    assert keys.good(third)


def test_no_grace_is_longer_than_the_key_lasts(tmp_path: Path):
    keys, clock = with_clock(tmp_path)
    first = keys.add("laptop", KeyTerms(expires_at=clock.now + 10))
    keys.rotate("laptop", grace_s=60)
    old = keys.good(first)
    assert old
    assert old.until == clock.now + 10
    clock.now += 10
    assert not keys.good(first)


def test_a_key_to_metrics_alone_has_no_profile(tmp_path: Path):
    keys = keys_in(tmp_path)
    keys.add("prometheus", KeyTerms(("default",), ("metrics",)))
    keys.add("both", KeyTerms(("default",), ("search", "metrics")))
    assert {each.name: each.profiles for each in keys.all()} == {
        "prometheus": (),
        "both": ("default",),
    }


def made(folder: Path, name: str, count: int) -> list[str]:
    keys = keys_in(folder)
    return [keys.add(f"{name}-{number}") for number in range(count)]


def removed(folder: Path, count: int) -> list[str]:
    keys = keys_in(folder)
    for number in range(count):
        keys.remove(f"old-{number}")
    return []


def test_of_keys_that_several_processes_make_none_is_lost(tmp_path: Path):
    shown = raced(*(partial(made, tmp_path, name, 15) for name in "abc"))
    keys = keys_in(tmp_path)
    assert len(keys.all()) == 45
    assert all(keys.good(each) for some in shown for each in some)


def test_a_key_that_was_removed_stays_removed_whoever_makes_others_meanwhile(tmp_path: Path):
    gone = made(tmp_path, "old", 20)
    _, new = raced(partial(removed, tmp_path, 20), partial(made, tmp_path, "new", 20))
    keys = keys_in(tmp_path)
    assert [key.name for key in keys.all() if key.name.startswith("old")] == []
    assert not any(keys.good(shown) for shown in gone)
    assert all(keys.good(shown) for shown in new)


def test_a_damaged_store_is_an_error_and_never_no_keys(tmp_path: Path):
    keys = keys_in(tmp_path)
    shown = keys.add("laptop")
    keys.close()
    (tmp_path / "keys.db").write_bytes(b"nonsense" * 1000)
    with pytest.raises(ToolcribError, match=r"keys\.db"):
        keys_in(tmp_path).good(shown)
    assert (tmp_path / "keys.db").read_bytes().startswith(b"nonsense")


def test_keys_of_before_are_taken_over_once_and_go_on_working(tmp_path: Path):
    before = tmp_path / "keys.json"
    metrics = former("prometheus", "tc_" + "m" * 43, profiles=["default"], metrics=True)
    before.write_text(json.dumps([former(), metrics]))
    keys = keys_in(tmp_path)
    assert name_of(keys, OLD) == "old"
    assert not before.exists()
    assert [(each.name, each.profiles, each.scopes) for each in keys.all()] == [
        ("old", ("p",), ("call",)),
        ("prometheus", (), ("metrics",)),
    ]
    keys.remove("old")
    before.write_text(json.dumps([former()]))  # put back by whatever hand
    again = keys_in(tmp_path)
    assert not again.good(OLD)


def test_a_key_of_before_can_be_rotated(tmp_path: Path):
    (tmp_path / "keys.json").write_text(json.dumps([former()]))
    keys = keys_in(tmp_path)
    new = keys.rotate("old", grace_s=60)
    assert name_of(keys, OLD) == name_of(keys, new) == "old"
    assert len(new) > len(OLD)
    keys.rotate("old")
    assert not keys.good(OLD)


def test_processes_that_take_over_at_once_have_each_key_once(tmp_path: Path):
    items = [former(f"k{number}", f"tc_{number:043d}") for number in range(50)]
    (tmp_path / "keys.json").write_text(json.dumps(items))
    raced(*(partial(made, tmp_path, name, 1) for name in "abc"))
    assert len(keys_in(tmp_path).all()) == 53


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}x",
        "3",
        "[3]",
        json.dumps([former(profiles=[])]),
        json.dumps([{name: value for name, value in former().items() if name != "salt"}]),
        json.dumps([former(made_at="x")]),
        json.dumps([former(profiles=[], metrics="true")]),
    ],
)
def test_a_damaged_file_of_before_is_an_error_and_never_no_keys(tmp_path: Path, content: str):
    (tmp_path / "keys.json").write_text(content, encoding="utf-8")
    with pytest.raises(StoreError, match="no key works"):
        keys_in(tmp_path)
    (tmp_path / "keys.json").write_text(json.dumps([former()]))
    assert keys_in(tmp_path).good(OLD)


def test_a_link_is_not_followed(tmp_path: Path):
    (tmp_path / "there").write_text(json.dumps([former()]))
    (tmp_path / "keys.json").symlink_to(tmp_path / "there")
    with pytest.raises(StoreError, match="cannot be read"):
        keys_in(tmp_path)
