"""Checks of MCP servers and of apps: whether each could be started, and how it went last time."""

import shutil
from collections.abc import Iterator

from toolcrib.cli.checks.diagnosis import CheckContext, Diagnosis
from toolcrib.cli.screen import number
from toolcrib.errors import SourceError
from toolcrib.sources.apps import SDKToolsCache, public_file, read_address
from toolcrib.sources.mcp import SMALLER, McpSource, ServerCommand, refresh_all
from toolcrib.system import is_running

SERVERS = "servers"
APPS = "apps"


def check_servers(context: CheckContext) -> Iterator[Diagnosis]:
    """One finding a server: the first thing that is wrong with it."""
    sources = context.servers.sources
    if context.start:
        refresh_all([source for source in sources if not source.config.disabled])
    for source in sources:
        yield _cannot_start(source) or _decisions_in_doubt(source) or _by_state(source)
    if not sources:
        yield Diagnosis(SERVERS, "ok", "no MCP server is configured")


def _cannot_start(source: McpSource) -> Diagnosis | None:
    """What keeps the server from starting, as far as can be seen without starting it."""
    config = source.config
    if config.disabled or not isinstance(config.transport, ServerCommand):
        return None
    status = source.status()
    if (why := status.unavailable) and why.code == "not_configured":
        return _problem(source, why.reason, status.remedy)
    missing = source.missing_program()
    return _problem(source, missing.reason, missing.remedy) if missing else None


def _decisions_in_doubt(source: McpSource) -> Diagnosis | None:
    """Decisions about its tools that cannot be trusted."""
    problem = source.judge().problem
    if not problem:
        return None
    words = f"none of its tools is approved: {problem}"
    return _problem(source, words, f"toolcrib review {source.server}")


def _by_state(source: McpSource) -> Diagnosis:
    status, server = source.status(), source.server
    if status.state == "disabled":
        return Diagnosis(SERVERS, "ok", f"{server}: switched off")
    if status.state == "needs_login":
        return _problem(source, "it needs a login", f"toolcrib login {server}")
    if status.failure:
        return _problem(
            source,
            f"its last start failed: {status.failure.message}",
            status.remedy,
        )
    if not status.seen:
        return _warning(source, "its tools were never listed", f"toolcrib refresh {server}")
    fine = Diagnosis(SERVERS, "ok", f"{server}: {number(status.tools, 'tool')}, {status.state}")
    return _listing_problem(source) or fine


def _listing_problem(source: McpSource) -> Diagnosis | None:
    """What is wrong with what it has listed: for the operator to judge, or its maker to mend."""
    status = source.status()
    if status.cut:
        return _warning(source, status.cut_words, SMALLER)
    if waiting := source.judge().waiting():
        tools = source.judge().tools
        hidden = (f"; in {name} is {at}" for name in waiting for at in tools[name].listed.hidden)
        words = f"waiting for review: {len(waiting)}{next(hidden, '')}"
        return _warning(source, words, f"toolcrib review {source.server}")
    for problem in source.problems:
        return _warning(source, problem, "report it to the author of the server")
    return None


def _problem(source: McpSource, words: str, remedy: str) -> Diagnosis:
    return Diagnosis(SERVERS, "problem", f"{source.server}: {words}", remedy)


def _warning(source: McpSource, words: str, remedy: str) -> Diagnosis:
    return Diagnosis(SERVERS, "warning", f"{source.server}: {words}", remedy)


def check_apps(context: CheckContext) -> Iterator[Diagnosis]:
    """Which process lets apps join, and whether the command of each app is there."""
    if not context.settings.apps.enabled:
        yield Diagnosis(APPS, "ok", "apps are switched off")
        return
    folder = context.settings.state_folder / "apps"
    try:
        address = read_address(public_file(folder))
        host = f"process {address.pid}" if is_running(address.pid) else "nobody"
    except SourceError:
        host = "nobody"
    apps, _ = SDKToolsCache(folder / "known").read_all()
    yield Diagnosis(APPS, "ok", f"{len(apps)} known; {host} lets apps join now")
    for app in apps:
        launch = context.settings.apps.launch.get(app.name) or app.launch
        if launch and not shutil.which(launch[0]):
            message = f"{app.name}: its command {launch[0]!r} is not there"
            yield Diagnosis(
                APPS, "warning", message, f"toolcrib apps forget {app.name}, or correct it"
            )
