"""The blind set is the one that was frozen, and its servers are listed as they answer."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks import dump_server
from benchmarks.blind.__main__ import HERE, QUERIES, frozen, main
from benchmarks.blind.listing import NoListing, canonical, digest, list_tools
from benchmarks.blind.packages import packages

REQUESTS = HERE / "requests.jsonl"


@pytest.fixture
def requests() -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in REQUESTS.read_text(encoding="utf-8").splitlines()]


def test_the_requests_are_those_that_were_frozen() -> None:
    text = REQUESTS.read_text(encoding="utf-8")
    assert digest(text) == frozen()[QUERIES.as_posix()]


def test_every_server_is_frozen_once() -> None:
    names = [each.server for each in packages()]
    assert sorted(f"dumps/{name}.json" for name in names) == sorted({*frozen()} - {str(QUERIES)})


def test_every_request_is_its_own_and_every_answer_is_of_a_server(
    requests: list[Mapping[str, Any]],
) -> None:
    servers = {each.server for each in packages()}
    assert len({each["id"] for each in requests}) == len(requests)
    assert len({each["query"] for each in requests}) == len(requests)
    for each in requests:
        answers = {*each["relevant"], *each["equiv"]}
        assert {*each["grades"]} == answers
        assert {answer.partition("::")[0] for answer in answers} <= servers
        assert {*each["equiv"].values()} <= {*each["relevant"]}
        assert bool(answers) != each["split"].endswith("none")


def test_a_server_is_listed_as_it_answers(tmp_path: Path) -> None:
    tools = [{"name": "b", "inputSchema": {"type": "object"}}, {"name": "a", "description": "A."}]
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": tools}), encoding="utf-8")
    command = [sys.executable, "-S", dump_server.__file__, str(file)]
    listed = list_tools(command, {"PATH": os.environ["PATH"]}, tmp_path)
    assert [each["name"] for each in json.loads(canonical(listed))["tools"]] == ["a", "b"]


def test_a_server_that_ends_is_no_empty_list(tmp_path: Path) -> None:
    with pytest.raises(NoListing):
        list_tools([sys.executable, "-c", ""], {}, tmp_path)


def test_what_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--dump-only", "--only", packages()[0].server]) == 1
    assert "0 servers listed their tools, 1 did not" in capsys.readouterr().out
