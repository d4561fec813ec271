import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toolcrib.errors import ConfigError

PROFILES = "[gateway.profiles.small]\nkinds = ['read']\n[gateway.profiles.large]\n"


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "settings.toml"
    path.write_text(PROFILES, encoding="utf-8")
    return str(path)


def test_a_key_is_made_listed_and_taken_back(run: Run, config: str):
    assert run("keys", "list").out == "There are no keys.\n"
    made = run("--config", config, "keys", "add", "laptop", "--profile", "small")
    assert made.code == 0
    assert made.out.startswith("tc_")
    assert "not shown again" in made.err
    listed = run("keys", "list")
    assert "laptop" in listed.out
    assert "small" in listed.out
    assert made.out.strip() not in listed.out
    assert run("keys", "list", "--json").json[0]["profiles"] == ["small"]
    assert "no keys" in run("keys", "remove", "laptop").out


def test_a_key_to_metrics_has_no_profile(run: Run, config: str):
    made = run("--config", config, "keys", "add", "prometheus", "--scope", "metrics")
    assert made.out.startswith("tc_")
    assert "toolcrib connect" not in made.err
    (listed,) = run("keys", "list", "--json").json
    assert (listed["profiles"], listed["scopes"]) == ([], ["metrics"])
    both = ("--scope", "metrics", "--profile", "small")
    refused = run("--config", config, "keys", "add", "other", *both)
    assert refused.code == 1
    assert "leave --profile out" in str(refused.error)


def test_a_key_has_terms(run: Run, config: str):
    terms = ("--expires", "90d", "--scope", "search", "--rate", "60", "--at-once", "2")
    made = run("--config", config, "keys", "add", "laptop", *terms, "--json").json
    (listed,) = run("keys", "list", "--json").json
    assert listed == {name: value for name, value in made.items() if name != "key"}
    assert listed["scopes"] == ["search"]
    assert listed["expires_at"] - listed["made_at"] == pytest.approx(90 * 86_400, abs=60)
    assert (listed["rate"], listed["at_once"], listed["used_at"]) == (60, 2, None)


def test_a_key_is_rotated_and_renewed(run: Run, config: str):
    before = run("--config", config, "keys", "add", "laptop", "--expires", "0s").out.strip()
    assert "(expired)" in run("keys", "list").out
    ran = run("keys", "rotate", "laptop", "--grace", "24h", "--expires", "2h")
    assert ran.out.startswith(before[:16])
    assert ran.out.strip() != before
    assert "not shown again" in ran.err
    assert "(expired)" not in run("keys", "list").out
    again = run("keys", "rotate", "laptop", "--json").json
    assert again["name"] == "laptop"
    assert again["key"] not in {before, ran.out.strip()}


def test_as_json_it_is_the_key(run: Run, config: str):
    profiles = ("--profile", "small", "--profile", "large")
    made = run("--config", config, "keys", "add", "laptop", *profiles, "--json").json
    assert made["profiles"] == ["small", "large"]
    assert made["key"].startswith("tc_")
    assert "hashed" not in json.dumps(run("keys", "list", "--json").json)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("remove", "x"), "nearest: none"),
        (("rotate", "x"), "nearest: none"),
        (("rotate", "x", "--grace", "soon"), "--grace takes 30m"),
        (("add", "x", "--expires", "soon"), "--expires takes 30m"),
        (("add", "x", "--scope", "write"), "call, search, metrics"),
        (("add", "x", "--profile", "smal"), "nearest: small"),
    ],
)
def test_what_is_wrong_is_told(run: Run, config: str, words: tuple[str, ...], told: str):
    ran = run("--config", config, "keys", *words)
    assert isinstance(ran.error, ConfigError)
    assert told in str(ran.error)


@pytest.mark.parametrize(
    ("action", "missing"), [("add", "NAME"), ("remove", "KEY"), ("rotate", "KEY")]
)
def test_what_is_missing_is_told(run: Run, action: str, missing: str):
    ran = run("keys", action)
    assert ran.code == 2
    assert f"Usage: toolcrib keys {action} [OPTIONS] {missing}" in ran.err
