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
    made = run("--config", config, "keys", "add", "prometheus", "--metrics")
    assert made.out.startswith("tc_")
    assert "toolcrib connect" not in made.err
    assert "/metrics alone" in run("keys", "list").out
    (listed,) = run("keys", "list", "--json").json
    assert (listed["profiles"], listed["metrics"]) == ([], True)
    both = ("--metrics", "--profile", "small")
    refused = run("--config", config, "keys", "add", "other", *both)
    assert refused.code == 1
    assert "one of the two" in str(refused.error)


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
        (("add", "x", "--profile", "smal"), "nearest: small"),
    ],
)
def test_what_is_wrong_is_told(run: Run, config: str, words: tuple[str, ...], told: str):
    ran = run("--config", config, "keys", *words)
    assert isinstance(ran.error, ConfigError)
    assert told in str(ran.error)


@pytest.mark.parametrize(("action", "missing"), [("add", "NAME"), ("remove", "KEY")])
def test_what_is_missing_is_told(run: Run, action: str, missing: str):
    ran = run("keys", action)
    assert ran.code == 2
    assert f"Usage: toolcrib keys {action} [OPTIONS] {missing}" in ran.err
