"""The command as its users run it: its link, its sockets, its end."""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.dashboard import asking
from tests.gateway.daemons import environ
from tests.waiting import HANG_S, until
from toolcrib.dashboard import process
from toolcrib.errors import ConfigError

LINK = re.compile(r"http://(tc-[0-9a-f]{8}\.localhost):([0-9]+)/login#([\w-]{43})")
PROGRAM = "from toolcrib.cli import main; main()"


class Running(NamedTuple):
    """A dashboard that runs, and the link that it printed."""

    process: "subprocess.Popen[str]"
    name: str
    port: int
    secret: str

    def ask(
        self, method: str, path: str, body: str = "", address: str = "127.0.0.1", **headers: str
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(address, self.port, timeout=HANG_S)
        host = f"{self.name}:{self.port}"
        ours = {
            "Host": host,
            "Origin": f"http://{host}",
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": asking.FORM,
            **headers,
        }
        with closing(connection):
            connection.request(method, path, body, ours)
            answer = connection.getresponse()
            answer.read()
            return answer


@contextmanager
def running(folder: Path) -> Generator[Running]:
    command = [sys.executable, "-P", "-c", PROGRAM, "dashboard", "--no-browser", "--json"]
    with subprocess.Popen(
        command,
        env=environ(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as started:
        try:
            assert started.stdout
            link = LINK.fullmatch(json.loads(started.stdout.readline())["link"])
            assert link
            yield Running(started, link[1], int(link[2]), link[3])
        finally:
            started.terminate()


@pytest.mark.plan(98)
def test_a_link_leads_to_pages_and_is_written_nowhere(tmp_path: Path):
    with running(tmp_path) as dashboard:
        answer = dashboard.ask("POST", "/login", f"secret={dashboard.secret}")
        assert answer.status == 204
        cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
        for path in ("/", "/inbox", "/servers", "/server?name=x", "/pulse"):
            assert dashboard.ask("GET", path, Cookie=cookie).status == 200
        assert dashboard.ask("GET", "/", Host="127.0.0.1").status == 421
        dashboard.process.terminate()
        out, err = dashboard.process.communicate(timeout=HANG_S)
        assert dashboard.process.returncode == 0, err
        secrets = (dashboard.secret, cookie.partition("=")[2])
        kept = [
            path
            for folder in (tmp_path, Path(os.environ["HOME"]))
            for path in folder.rglob("*")
            if path.is_file() and any(each.encode() in path.read_bytes() for each in secrets)
        ]
        assert kept == []
        assert not any(each in out + err for each in secrets)


@pytest.mark.plan(99)
def test_it_listens_on_loopback_alone_and_on_both_of_its_addresses(tmp_path: Path):
    with running(tmp_path) as dashboard:
        inode = {
            link.rpartition("[")[2][:-1]
            for each in Path(f"/proc/{dashboard.process.pid}/fd").iterdir()
            if (link := str(each.readlink())).startswith("socket:")
        }
        found: set[str] = set()
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == "0A" and words[9] in inode:
                    found.add(words[1].partition(":")[0])
        both = {"0100007F", "00000000000000000000000001000000"}
        assert found == (both if _has_ipv6() else {"0100007F"})
        if _has_ipv6():
            assert dashboard.ask("GET", "/login", address="::1").status == 200


def _has_ipv6() -> bool:
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            return False
    return True


@pytest.mark.plan(99)
@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no ::1")
def test_a_port_that_somebody_else_has_at_one_address_is_not_taken():
    with socket.socket(socket.AF_INET6) as other:
        other.bind(("::1", 0))
        other.listen()
        with pytest.raises(ConfigError, match="--port"):
            process.listen(other.getsockname()[1])


def test_a_name_is_new_each_time_and_a_proxy_has_its_own():
    first, second = (process.new_origins(7700, ("crib.example",)) for _ in range(2))
    assert first["crib.example"] == "https://crib.example"
    assert len({*first, *second}) == 3
    assert all(origin.endswith(host) for host, origin in first.items())


def test_it_ends_when_nobody_can_look_any_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(process, "LOOK_S", 0.01)
    monkeypatch.setattr(process, "IDLE_S", 0.05)
    monkeypatch.setattr(process.Logins, "is_needed", False)
    links: list[str] = []
    asked = asking.Asked()
    options = process.DashboardOptions(asked.app.settings)
    process.run_dashboard(asked.operations, options, links.append)
    assert len(links) == 1


def test_it_ends_at_once_and_quietly_while_somebody_is_on_live(tmp_path: Path):
    with running(tmp_path) as dashboard:
        answer = dashboard.ask("POST", "/login", f"secret={dashboard.secret}")
        cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
        host = f"{dashboard.name}:{dashboard.port}"
        connection = http.client.HTTPConnection("127.0.0.1", dashboard.port, timeout=HANG_S)
        with closing(connection):
            connection.request("GET", "/stream", headers={"Host": host, "Cookie": cookie})
            stream = connection.getresponse()
            assert stream.status == 200
            assert stream.readline() == b": \n"
            dashboard.process.terminate()
            assert stream.read().strip() == b""
        assert dashboard.process.stderr
        assert dashboard.process.stderr.read() == ""


@pytest.mark.parametrize("killed", [False, True])
def test_the_gateway_runs_one_beside_it_and_both_end_together(tmp_path: Path, killed: bool):
    command = [sys.executable, "-P", "-c", PROGRAM, "serve", "--dashboard"]
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o700)
    env = {**environ(tmp_path), "BROWSER": f"{browser} %s"}
    with subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as serving:
        opened = tmp_path / "opened"
        until(lambda: opened.exists() and opened.read_text().endswith("\n"), "a browser is opened")
        link = LINK.fullmatch(opened.read_text().strip())
        assert link
        beside = Running(serving, link[1], int(link[2]), link[3])  # type: ignore[arg-type]
        assert beside.ask("POST", "/login", f"secret={link[3]}").status == 204
        (serving.kill if killed else serving.terminate)()
        serving.communicate(timeout=HANG_S)  # all that hold its ends of the pipes are gone
    with pytest.raises(OSError):  # noqa: PT011 - nobody is there, however the system says so
        beside.ask("GET", "/login")
