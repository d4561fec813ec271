"""Which commands fetch a server before they run it."""

import pytest

from toolcrib.sources.mcp import ServerAddress, ServerCommand
from toolcrib.sources.mcp.config.package_runner import package_runner
from toolcrib.sources.mcp.config.server import Isolation


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("npx -y @scope/server@latest --flag", "npx @scope/server@latest"),
        ("/usr/local/bin/npx server", "npx server"),
        (r"C:\Program\npx.cmd server", "npx server"),
        ("cmd /c npx -y server", "npx server"),
        ("env A=1 npx server", "npx server"),
        ("npm exec -- server", "npm server"),
        ("uvx mcp-server-time", "uvx mcp-server-time"),
        ("uv tool run server", "uv server"),
        ("uv run server.py", "uv server.py"),
        ("pipx run server", "pipx server"),
        ("bunx server", "bunx server"),
        ("bun x server", "bun server"),
        ("pnpm dlx server", "pnpm server"),
        ("yarn dlx server", "yarn server"),
    ],
)
def test_what_fetches_first_is_known_by_its_command(line, package):
    command, *arguments = line.split()
    runner = package_runner(ServerCommand(command, tuple(arguments)))
    assert runner is not None
    assert (runner.package, runner.unpacks) == (package, True)


def test_a_container_is_fetched_by_a_service():
    runner = package_runner(ServerCommand("docker", ("run", "-i", "--rm", "mcp/time")))
    boxed = package_runner(ServerCommand("npx", ("server",), isolation=Isolation("podman")))
    assert runner is not None
    assert boxed is not None
    assert not runner.unpacks
    assert not boxed.unpacks


@pytest.mark.parametrize("line", ["node server.js", "npm start", "uv sync", "env", "docker ps"])
def test_all_else_only_starts(line):
    command, *arguments = line.split()
    assert package_runner(ServerCommand(command, tuple(arguments))) is None


def test_a_server_elsewhere_is_not_fetched():
    assert package_runner(ServerAddress("https://example.com/mcp")) is None
