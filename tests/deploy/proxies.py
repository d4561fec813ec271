"""A real HAProxy and a real nginx, with the files that we tell people to take."""

import os
import shutil
import socket
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.certificates import Authority
from tests.waiting import HANG_S, until

DEPLOY = Path(__file__).parents[2] / "deploy"
GATEWAYS = ("10.0.0.11:8080", "10.0.0.12:8080", "10.0.0.13:8080")
PROXIES = ("haproxy", "nginx")
NGINX = """daemon off;
pid nginx.pid;
{user}
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include {site};
}}
"""


class Proxy(NamedTuple):
    """Where it listens, and its process."""

    port: int
    process: "subprocess.Popen[bytes]"


@contextmanager
def proxied(
    kind: str, folder: Path, authority: Authority, ports: Sequence[int]
) -> Generator[Proxy]:
    """The proxy before gateways at these ports, until this ends. Skips where it is not there."""
    program = shutil.which(kind)
    if program is None:
        pytest.skip(f"{kind} is not installed; `python scripts/install_proxies.py` does it")
    certificate, key = authority.issue(folder / "tls")
    port = _free_port()
    gateways = {old: f"127.0.0.1:{new}" for old, new in zip(GATEWAYS, ports, strict=True)}
    line = _LINES[kind](folder, certificate, key, port, gateways)
    with (folder / f"{kind}.log").open("wb") as log:
        process = subprocess.Popen([program, *line], stdout=log, stderr=log, cwd=folder)
    try:
        until(lambda: _answers(port) or process.poll() is not None, f"{kind} listens")
        assert process.poll() is None, (folder / f"{kind}.log").read_text()
        yield Proxy(port, process)
    finally:
        process.terminate()
        process.wait(HANG_S)


def _haproxy(
    folder: Path, certificate: Path, key: Path, port: int, gateways: Mapping[str, str]
) -> list[str]:
    both = folder / "both.pem"
    both.write_bytes(certificate.read_bytes() + key.read_bytes())
    config = _written(
        folder,
        "haproxy.cfg",
        {
            **gateways,
            "bind :443": f"bind 127.0.0.1:{port}",
            "/etc/haproxy/tools.example.com.pem": str(both),
            "log /dev/log local0 info": "log stdout format raw local0 info",
            "    user haproxy\n    group haproxy\n": "",
        },
    )
    return ["-db", "-f", str(config)]


def _nginx(
    folder: Path, certificate: Path, key: Path, port: int, gateways: Mapping[str, str]
) -> list[str]:
    site = _written(
        folder,
        "nginx.conf",
        {
            **gateways,
            "listen 443 ": f"listen 127.0.0.1:{port} ",
            "    listen [::]:443 ssl http2;\n": "",
            "/etc/nginx/tools.example.com.pem": str(certificate),
            "/etc/nginx/tools.example.com.key": str(key),
        },
    )
    user = "user root;" if os.geteuid() == 0 else ""
    whole = folder / "whole.conf"
    whole.write_text(NGINX.format(site=site, user=user))
    return ["-p", str(folder), "-e", "stderr", "-c", str(whole)]


_LINES = {"haproxy": _haproxy, "nginx": _nginx}


def _written(folder: Path, name: str, changes: Mapping[str, str]) -> Path:
    """The file as people take it, with the addresses and paths of a test."""
    text = (DEPLOY / name).read_text()
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    file = folder / f"test-{name}"
    file.write_text(text)
    return file


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
