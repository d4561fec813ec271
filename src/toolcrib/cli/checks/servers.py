"""Whether each MCP server could be started, and how it went the last time."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from toolcrib.cli.checks.finding import Finding, Patient
from toolcrib.cli.screen import number
from toolcrib.sources.mcp import INSTALL, McpSource, ServerCommand, refresh_all, server_environment

AREA = "servers"


def check_servers(patient: Patient) -> Iterator[Finding]:
    """One finding a server: the first thing that is wrong with it."""
    sources = patient.servers.sources
    if patient.start:
        refresh_all([source for source in sources if not source.config.disabled])
    for source in sources:
        yield _of(source) or _in_doubt(source) or _by_state(source)
    if not sources:
        yield Finding(AREA, "ok", "no MCP server is configured")


def _of(source: McpSource) -> Finding | None:
    """What keeps the server from starting, as far as can be seen without starting it."""
    command = source.config.transport
    if source.config.disabled or not isinstance(command, ServerCommand):
        return None
    status = source.status()
    if (why := status.unavailable) and why.code == "not_configured":
        return _problem(source, why.reason, status.remedy)
    box = command.isolation
    if box and not shutil.which(box.tool):
        return _problem(
            source, f"it is to run in {box.tool}, which is not there", INSTALL[box.tool]
        )
    if box and box.tool != "bwrap":
        return None  # the command is within the image
    path = server_environment(command).get("PATH", os.defpath)
    place = str(Path(command.cwd or ".", command.command))
    if not shutil.which(place if os.sep in command.command else command.command, path=path):
        found = f"its command {command.command!r} is not there"
        return _problem(source, found, "install it, or correct `command`")
    return None


def _in_doubt(source: McpSource) -> Finding | None:
    """That what was decided about its tools does not count."""
    if not source.judgement.problem:
        return None
    words = f"none of its tools is approved: {source.judgement.problem}"
    return _problem(source, words, f"toolcrib review {source.server}")


def _by_state(source: McpSource) -> Finding:
    status, server = source.status(), source.server
    if status.state == "disabled":
        return Finding(AREA, "ok", f"{server}: switched off")
    if status.state == "needs_login":
        return _problem(source, "it wants a login", f"toolcrib login {server}")
    if status.failure:
        return _problem(
            source,
            f"its last start failed: {status.failure.message}",
            status.remedy,
        )
    if not status.seen:
        return _warning(source, "its tools were never listed", f"toolcrib refresh {server}")
    fine = Finding(AREA, "ok", f"{server}: {number(status.tools, 'tool')}, {status.state}")
    return _of_listing(source) or fine


def _of_listing(source: McpSource) -> Finding | None:
    """What is wrong with what it has listed: for the operator to judge, or its maker to mend."""
    if waiting := len(source.judgement.waiting()):
        words = f"waiting for review: {waiting}"
        return _warning(source, words, f"toolcrib review {source.server}")
    for said in source.problems:
        return _warning(source, said, "tell whoever makes the server")
    return None


def _problem(source: McpSource, words: str, remedy: str) -> Finding:
    return Finding(AREA, "problem", f"{source.server}: {words}", remedy)


def _warning(source: McpSource, words: str, remedy: str) -> Finding:
    return Finding(AREA, "warning", f"{source.server}: {words}", remedy)
