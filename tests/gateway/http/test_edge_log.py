"""The lines about HTTP requests: enough to find out, and never a secret, a query, an argument."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.http.guarded import Guarded
from tests.gateway.key_names import named
from toolcrib.gateway.daemon_log import apply_log_settings, log_file, log_to_file
from toolcrib.gateway.http import edge_log
from toolcrib.gateway.http.edge_log import EdgeLog
from toolcrib.settings import ObserveSettings

pytestmark = pytest.mark.usefixtures("unlogged")

CALL = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": "rhubarb"}}'
ODD = b'{"params": {"method": "rhubarb"}, "jsonrpc": "2.0", "id": 1, "method": "tools/list"}'


class Logged:
    """An edge whose log is a file of JSON lines."""

    def __init__(self, folder: Path, *, full: bool) -> None:
        self.codes: list[str] = []
        self.file = log_file(folder)
        self.guarded = Guarded(folder)
        log_to_file(folder, ObserveSettings(log_format="json"))
        log = EdgeLog(lambda: full, self.codes.append)
        object.__setattr__(self.guarded.edge, "edge_log", log)

    def ask(self, path: str = "/mcp", body: bytes = CALL, verb: str = "POST", **headers: str):
        """A request with nothing wrong about it but these headers."""
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        return self.guarded.ask(verb, path, {**self.guarded.right, **named}, [body])

    def lines(self) -> list[dict[str, Any]]:
        return [*map(json.loads, self.file.read_text(encoding="utf-8").splitlines())]


@pytest.fixture
def logged(tmp_path: Path) -> Logged:
    return Logged(tmp_path, full=True)


def test_a_request_that_is_served_has_a_line(logged: Logged):
    logged.ask(path="/mcp/small", body=CALL)
    (line,) = logged.lines()
    assert line["ms"] >= 0
    line["who"] = named(line["who"])
    assert {key: line[key] for key in line if key not in {"time", "ms", "message"}} == {
        "level": "info",
        "logger": "toolcrib.gateway.http.edge_log",
        "request": "served",
        "verb": "POST",
        "path": "/mcp/small",
        "client": "127.0.0.1",
        "who": "key:owner@small",
        "what": "tools/call",
        "status": 200,
    }


def test_a_request_that_is_refused_has_one_too(logged: Logged):
    logged.ask(path="/mcp/large", authorization=f"Bearer {logged.guarded.key}", body=CALL)
    (line,) = logged.lines()
    assert (line["level"], line["request"], line["code"]) == ("warning", "refused", "forbidden")
    assert (line["status"], line["path"], line["who"]) == (403, "/mcp/*", "")
    assert logged.codes == ["forbidden"]


def test_no_line_has_a_secret_a_query_or_an_argument(logged: Logged):
    guarded = logged.guarded
    logged.ask(path="/mcp/small", body=CALL)
    logged.ask(path="/mcp/small", body=ODD)
    logged.ask(path="/mcp/tc_rhubarb")
    logged.ask(path="/rhubarb")
    logged.ask(verb="RHUBARB")
    logged.ask(authorization="Bearer rhubarb")
    logged.ask(host="rhubarb.example")
    logged.ask(origin="https://rhubarb.example")
    logged.ask(path="/mcp/small", body=CALL, mcp_method="rhubarb")
    said = logged.file.read_text(encoding="utf-8")
    assert len(logged.lines()) == 9
    assert "rhubarb" not in said.lower()
    assert guarded.token not in said
    assert guarded.key not in said


def test_without_access_lines_refusals_have_some_and_cannot_fill_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    logged = Logged(tmp_path, full=False)
    logged.ask(path="/mcp/small", body=CALL)
    for _ in range(50):
        logged.ask(path="/nowhere")
    logged.ask(authorization="")
    assert [line["code"] for line in logged.lines()] == ["not_found", "unauthorized"]
    assert len(logged.codes) == 51
    monkeypatch.setattr(edge_log, "REFUSAL_LOG_S", 0.0)
    logged.ask(path="/nowhere")
    assert logged.lines()[-1]["more"] == 49


def test_lines_for_people_say_the_same(tmp_path: Path):
    logged = Logged(tmp_path, full=True)
    apply_log_settings(ObserveSettings())
    logged.ask(path="/mcp/small", body=CALL)
    (line,) = logged.file.read_text(encoding="utf-8").splitlines()
    assert "INFO toolcrib.gateway.http.edge_log: served: verb=POST path=/mcp/small" in line
    assert "what=tools/call status=200 ms=" in line


def test_levels_are_kept(tmp_path: Path):
    logged = Logged(tmp_path, full=True)
    for level, said in (("warning", 0), ("debug", 2), ("error", 0), ("info", 1)):
        set_to = {"log_format": "json", "log_level": level}
        apply_log_settings(ObserveSettings.model_validate(set_to))
        before = len(logged.lines())
        logged.ask(path="/mcp/small", body=CALL)
        logging.getLogger("toolcrib.gateway.test").debug("more")
        logging.getLogger("another").info("chatter")
        assert len(logged.lines()) - before == said


def test_what_was_raised_is_in_the_line(tmp_path: Path):
    logged = Logged(tmp_path, full=False)
    error = ValueError("bad\nline\u202e")
    logging.getLogger("toolcrib.gateway.test").error("it\nfailed", exc_info=error)
    (line,) = logged.lines()
    assert "ValueError" in line["error"]
    assert "U+202E" in line["error"]
    assert line["message"] == "it\nfailed"
