"""`toolcrib doctor` with a shared store: whether it answers, and whose keys count."""

from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.postgres import KEY
from toolcrib.store.postgres import DatabaseAddress


@pytest.fixture(autouse=True)
def shared_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_INSTALL_KEY_ENV", "SHARED_SECRET")
    monkeypatch.setenv("SHARED_SECRET", KEY.hex())


def of(area: str, run: Run) -> list[Any]:
    return [each for each in run("doctor", "--json").json if each["area"] == area]


def test_it_says_that_the_store_answers_and_counts_its_keys(
    run: Run, new_address: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
):
    run("keys", "add", "in a file")
    monkeypatch.setenv("TOOLCRIB_STORE", new_address.text)
    run("keys", "add", "ann")
    run("keys", "add", "bob")
    store = of("store", run)[0]
    assert store["level"] == "ok"
    assert store["message"] == f"{new_address.text}: answers, and is up to date; tenant default"
    assert of("people", run)[0]["message"] == "HTTP opens with 2 keys"


def test_one_that_does_not_answer_is_a_problem(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLCRIB_STORE", "postgresql://nobody@127.0.0.1:1/x")
    done = run("doctor", "--json")
    assert done.code == 1
    [store] = [each for each in done.json if each["area"] == "store"]
    assert store["level"] == "problem"
    assert "cannot be reached" in store["message"]
    assert store["remedy"]
