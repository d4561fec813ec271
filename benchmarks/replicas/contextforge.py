"""ContextForge, another gateway in front of MCP servers, with one server behind it.

It runs from an environment of its own (`pip install mcp-contextforge-gateway`), because its
dependencies are not ours. One worker, SQLite, and off what a call does not need: user interface,
plugins, limits of rate, records of use. Sessions are on: without them it opens a new session with
the server for each call.
"""

import asyncio
import os
import secrets
import subprocess
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import httpx2

from benchmarks.home import Unusable
from benchmarks.replicas.cluster import READY_S, free_port

PACKAGE = "mcp-contextforge-gateway"
ADMIN = "admin@example.com"
SETTINGS = {
    "CACHE_TYPE": "memory",
    "COMPRESSION_ENABLED": "false",
    "DB_METRICS_RECORDING_ENABLED": "false",
    "LOG_LEVEL": "ERROR",
    "MCPGATEWAY_UI_ENABLED": "false",
    "PERFORMANCE_TRACKING_ENABLED": "false",
    "PLATFORM_ADMIN_EMAIL": ADMIN,
    "PLUGINS_ENABLED": "false",
    "RATE_LIMITING_ENABLED": "false",
    "SSRF_ALLOW_LOCALHOST": "true",
    "SSRF_ALLOW_PRIVATE_NETWORKS": "true",
    "STRUCTURED_LOGGING_ENABLED": "false",
    "TOKEN_USAGE_LOGGING_ENABLED": "false",
    "USE_STATEFUL_SESSIONS": "true",
}


class ContextForge(NamedTuple):
    """One that runs. `token` is for everything."""

    port: int
    token: str
    pid: int

    @property
    def url(self) -> str:
        """Where it serves MCP."""
        return f"http://127.0.0.1:{self.port}/mcp/"


def contextforge_version(python: Path) -> str:
    """What is installed beside this Python. Raises `Unusable` if it is not."""
    code = f"from importlib.metadata import version; print(version({PACKAGE!r}))"
    return _printed(python, {}, "-c", code)


@asynccontextmanager
async def running_contextforge(
    python: Path, folder: Path, server: str, server_url: str
) -> AsyncGenerator[ContextForge]:
    """It runs meanwhile, and has listed the server. Raises `Unusable`."""
    env = _environment(folder)
    words = ("--username", ADMIN, "--exp", "60", "--admin")
    token = _printed(python, env, "-m", "mcpgateway.utils.create_jwt_token", *words)
    port = free_port()
    options = ("--host", "127.0.0.1", "--port", str(port), "--no-access-log")
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(python, "-m", "mcpgateway.cli", *options), env=env, cwd=folder, stdout=log, stderr=log
        )
    try:
        running = ContextForge(port, token, process.pid)
        if not await _is_healthy(running, process):
            raise Unusable(f"ContextForge does not start: {_end_of(folder / 'log')}")
        await _add_server(running, server, server_url)
        yield running
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _environment(folder: Path) -> dict[str, str]:
    """Make its home. Nothing of ours but the PATH; secrets, which it will not start without."""
    folder.mkdir()
    names = ("JWT_SECRET_KEY", "AUTH_ENCRYPTION_SECRET", "PLATFORM_ADMIN_PASSWORD")
    made = {name: f"Aa1-{secrets.token_hex(32)}" for name in names}
    place = {"HOME": str(folder), "DATABASE_URL": f"sqlite:///{folder}/mcp.db"}
    return {"PATH": os.environ["PATH"], **place, **made, **SETTINGS}


def _printed(python: Path, env: dict[str, str], *words: str) -> str:
    """The last line that it prints. Raises `Unusable` when it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - the person names it
            [python, *words], env=env, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        todo = f"`pip install {PACKAGE}` in an environment of its own, and name its Python"
        raise Unusable(f"{python} does not have ContextForge ({error}); {todo}") from error
    return done.stdout.strip().splitlines()[-1]


async def _is_healthy(running: ContextForge, process: asyncio.subprocess.Process) -> bool:
    """As soon as it is; no, if it ends instead, or takes too long."""
    end = time.monotonic() + READY_S
    async with httpx2.AsyncClient(timeout=5, trust_env=False) as http:
        while time.monotonic() < end and process.returncode is None:
            with suppress(httpx2.HTTPError):
                answer = await http.get(f"http://127.0.0.1:{running.port}/health")
                if answer.status_code == 200:
                    return True
            await asyncio.sleep(0.2)
    return False


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-2_000:]


async def _add_server(running: ContextForge, name: str, url: str) -> None:
    entry = {"name": name, "url": url, "transport": "STREAMABLEHTTP"}
    headers = {"Authorization": f"Bearer {running.token}"}
    async with httpx2.AsyncClient(timeout=READY_S, trust_env=False) as http:
        address = f"http://127.0.0.1:{running.port}/gateways"
        answer = await http.post(address, json=entry, headers=headers)
    if answer.is_error:
        raise Unusable(f"ContextForge refuses the server: {answer.text}")
