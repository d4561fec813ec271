"""The usual causes of a start that fails, by what programs really write."""

from pathlib import Path

import pytest

from toolcrib.sources.mcp import ServerCommand
from toolcrib.sources.mcp.diagnosis import StartAttempt, diagnose, no_command
from toolcrib.sources.mcp.outcome import StartDiagnosis
from toolcrib.sources.mcp.server_log import without_warnings

NPX = ServerCommand("npx", ("-y", "@scope/server"))
UVX = ServerCommand("uvx", ("mcp-server-sqlite", "--db-path", "x.db"))
NODE = ServerCommand("node", ("server.js",))
DOCKER = ServerCommand("docker", ("run", "-i", "--rm", "mcp/time"))

SQLITE = """Traceback (most recent call last):
  File "/home/ann/.cache/uv/archive-v0/Zl_4/bin/mcp-server-sqlite", line 10, in <module>
    sys.exit(main())
  File "/home/ann/.cache/uv/archive-v0/Zl_4/lib/site-packages/mcp_server_sqlite/server.py", line 173
    @server.list_resources()
     ^^^^^^^^^^^^^^^^^^^^^
AttributeError: 'Server' object has no attribute 'list_resources'
"""
PAPER = """Traceback (most recent call last):
  File "/home/ann/.cache/uv/archive-v0/Ymct/bin/paper-search-mcp", line 6, in <module>
    from paper_search_mcp.server import main
ModuleNotFoundError: No module named 'mcp.server.fastmcp'. This is mcp 2.x, where FastMCP was
renamed to MCPServer or pin 'mcp<2' to keep running v1 code.
"""
UV_DAMAGED = """Traceback (most recent call last):
  File "/home/ann/.cache/uv/archive-v0/Zl_4/bin/mcp-server-sqlite", line 4, in <module>
    from mcp_server_sqlite import main
ModuleNotFoundError: No module named 'mcp_server_sqlite'
"""
NPM_DNS = """npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error network request to http://no-such-host.invalid/crib-x failed, reason: getaddrinfo
npm error network This is a problem related to network connectivity.
"""
UV_DNS = """error: Failed to fetch: https://no-such-host.invalid/simple/crib-x/
  cause: error sending request for url (https://no-such-host.invalid/simple/crib-x/)
  cause: dns error
"""
UV_PROXY = """error: Failed to fetch: https://example.invalid/simple/crib-x/
  cause: client error (Connect)
  cause: tunnel error: failed to create underlying connection
  cause: Connection refused (os error 111)
"""
NPM_404 = """npm error code E404
npm error 404 Not Found - GET https://registry.example/crib-no-such-package
npm error 404  The requested resource could not be found or you do not have permission.
"""
UV_404 = """error: No solution found when resolving tool dependencies
  cause: Because crib-no-such was not found in the package registry and you require crib-no-such,
  we can conclude that your requirements are unsatisfiable.
"""
NPM_TLS = """npm error code DEPTH_ZERO_SELF_SIGNED_CERT
npm error errno DEPTH_ZERO_SELF_SIGNED_CERT
npm error request to https://localhost:8943/crib-x failed, reason: self-signed certificate
"""
UV_TLS = """error: Failed to fetch: https://localhost:8943/simple/crib-x/
  cause: client error (Connect)
  cause: invalid peer certificate: UnknownIssuer
"""
PYTHON_TLS = (
    "urllib.error.URLError: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify"
    " failed: self-signed certificate (_ssl.c:1006)>"
)
NODE_TLS = """TypeError: fetch failed
  [cause]: Error: unable to get local issuer certificate
    code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'
"""
NODE_PORT = """node:events:502
      throw er; // Unhandled 'error' event
Error: listen EADDRINUSE: address already in use :::8999
    at Server.setupListenHandle [as _listen2] (node:net:1908:16)
"""
DOCKER_OFF = (
    "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock."
    " Is the docker daemon running?"
)
OLD_NODE = """npm warn EBADENGINE Unsupported engine {
npm warn EBADENGINE   package: 'server@2.0.0',
npm warn EBADENGINE   required: { node: '>=22' },
file:///x/index.js:3
SyntaxError: Unexpected identifier
"""
UV_PYTHON = (
    "  cause: Because the current Python version (3.9.2) does not satisfy Python>=3.10 and"
    " server depends on Python>=3.10, we can conclude that your requirements are unsatisfiable."
)


def found(stderr: str, command: ServerCommand = NPX, **env: str) -> StartDiagnosis:
    means = diagnose(stderr, StartAttempt("it", command, env))
    assert means, stderr
    return means


@pytest.mark.parametrize(
    ("stderr", "command", "reason", "remedy"),
    [
        (SQLITE, UVX, "version 1 of the Python package `mcp`", "uvx --with 'mcp<2' "),
        (PAPER, UVX, "version 1 of the Python package `mcp`", "uvx --with 'mcp<2' "),
        (PAPER, ServerCommand("python"), "version 1 of", "install `mcp<2` where it runs"),
        (UV_DAMAGED, UVX, "seems damaged", "`uv cache clean mcp-server-sqlite`"),
        (NPM_DNS, NPX, "registry cannot be reached", "network"),
        (UV_DNS, UVX, "registry cannot be reached", "network"),
        (UV_PROXY, UVX, "the proxy does not let it through", "HTTPS_PROXY"),
        (NPM_404, NPX, "its package is not found by npx", "correct the name"),
        (UV_404, UVX, "its package is not found by uvx", "correct the name"),
        (NPM_TLS, NPX, "a certificate", "NODE_EXTRA_CA_CERTS"),
        (UV_TLS, UVX, "a certificate", "SSL_CERT_FILE"),
        (PYTHON_TLS, UVX, "a certificate", "SSL_CERT_FILE"),
        (NODE_TLS, NODE, "a certificate", "NODE_EXTRA_CA_CERTS"),
        (NODE_PORT, NODE, "the port 8999 is taken", "another port"),
        (DOCKER_OFF, DOCKER, "Docker does not run", "start Docker"),
        (OLD_NODE, NPX, "a newer Node.js", "install a current Node.js"),
        (UV_PYTHON, UVX, "it needs Python >=3.10", "--python"),
        ("sh: 1: crib-server: not found", NPX, "seems damaged", "`_npx` in npm's cache"),
        (
            "Error: EACCES: permission denied, open '/x'",
            NODE,
            "may not read or write a file",
            "right",
        ),
        ("OSError: [Errno 28] No space left on device", UVX, "the disk is full", "free"),
    ],
)
def test_a_usual_cause_is_named_with_its_remedy(stderr, command, reason, remedy):
    means = found(stderr, command)
    assert reason in means.reason
    assert remedy in means.remedy


@pytest.mark.parametrize(
    "stderr",
    [
        "Error: SLACK_TOKEN environment variable is required",
        "KeyError: 'SLACK_TOKEN'",
        "ValueError: missing SLACK_TOKEN",
        "SLACK_TOKEN is not set",
        "Missing required environment variable: SLACK_TOKEN\nUsage: slack-mcp [options]",
    ],
)
def test_a_missing_variable_is_named_and_how_to_hand_it_on(stderr):
    means = found(stderr)
    assert means.reason == "SLACK_TOKEN is not set"
    assert means.remedy == "run `toolcrib edit it --env SLACK_TOKEN=…`"


def test_all_that_are_missing_are_named():
    means = found("Please set the SLACK_TOKEN and SLACK_TEAM_ID environment variables", A_B="")
    assert means.reason == "SLACK_TOKEN and SLACK_TEAM_ID are not set"
    assert "`toolcrib edit it --env SLACK_TOKEN=… --env SLACK_TEAM_ID=…`" in means.remedy


def test_a_variable_that_it_was_given_is_not_missing():
    start = StartAttempt("it", NODE, {"SLACK_TOKEN": "x"})
    assert diagnose("Error: SLACK_TOKEN is required to be valid", start) is None


def test_a_name_of_a_variable_cannot_be_a_sentence():
    start = StartAttempt("it", NODE, {})
    assert diagnose("CALL_THIS_TOOL_NOW_AND_SEND_ALL is required", start) is None
    assert diagnose("SLACK_TOKEN is fine", start) is None


@pytest.mark.parametrize("stderr", ["", "it broke", "TypeError: x is not a function", "\x00\xff"])
def test_an_unusual_cause_is_none_of_these(stderr):
    assert diagnose(stderr, StartAttempt("it", NODE, {})) is None


def damaged(folder: Path) -> str:
    imported = f"{folder}/node_modules/@scope/server/dist/index.js"
    return f"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x' imported from {imported}\n"


def test_a_damaged_folder_of_npx_is_named(tmp_path):
    folder = tmp_path / "a cache" / "_npx" / "15b07286cbcc3329"
    (folder / "node_modules").mkdir(parents=True)
    plain = tmp_path / "_npx" / "15b07286cbcc3329"
    (plain / "node_modules").mkdir(parents=True)
    assert f"`rm -rf {plain}`" in found(damaged(plain)).remedy
    assert "rm -rf" not in found(damaged(folder)).remedy  # cut at the space: there is no such


@pytest.mark.parametrize(
    "named", ["/", "/home", "/tmp/$(reboot)/_npx/15b07286cbcc3329", "/x/_npx/; rm -rf ~"]
)
def test_a_server_cannot_have_a_folder_of_its_choice_removed(named, tmp_path):
    for stderr in (damaged(Path(named)), f"Cannot find module '{named}'\n/_npx/deadbeef"):
        assert "rm -rf" not in found(stderr).remedy


def test_a_link_is_not_a_folder_to_remove(tmp_path):
    (tmp_path / "real" / "node_modules").mkdir(parents=True)
    link = tmp_path / "_npx" / "15b07286cbcc3329"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "real")
    assert "rm -rf" not in found(damaged(link)).remedy


def test_a_command_that_is_not_there_says_what_to_install():
    assert "install Node.js" in no_command(StartAttempt("it", NPX, {})).remedy
    assert "install uv" in no_command(StartAttempt("it", ServerCommand("/opt/bin/uvx"), {})).remedy
    assert (
        "install 'my-server'"
        in no_command(StartAttempt("it", ServerCommand("my-server"), {})).remedy
    )


def test_a_path_that_is_wrong_is_not_to_be_written_as_a_path():
    bare, path = (
        no_command(StartAttempt("it", ServerCommand(command), {})).remedy
        for command in ("my-server", "/opt/my-server")
    )
    assert "write its whole path into `command`" in bare
    assert "correct its path in `command`" in path


WARNED = """/srv/lib/hub/auth.py:94: UserWarning: HF_TOKEN environment variable is not set, please
  warnings.warn(message)
/srv/lib/requests/__init__.py:113: RequestsDependencyWarning: cannot use this urllib3!
(node:7) Warning: the REDIS_URL environment variable is not set
2026-01-02 10:00:00 WARNING cache: could not open CACHE_DIR: it is not set
"""


def test_what_libraries_warn_of_is_no_cause():
    start = StartAttempt("it", NODE, {})
    assert diagnose(WARNED + "ValueError: no model of that name\n", start) is None
    means = found(WARNED + "ValueError: SLACK_TOKEN is required\n")
    assert means.reason == "SLACK_TOKEN is not set"
    assert diagnose("\n".join(WARNED.splitlines()[:4]), start) is None


def test_where_node_says_how_to_find_a_warning_is_no_cause():
    how = "(Use `node --trace-deprecation ...` to show where the warning was created)\n"
    warned = f"(node:7) [DEP0040] DeprecationWarning: `punycode` is old\n{how}"
    assert without_warnings(warned) == ""
    assert without_warnings(f"{warned}no licence\n") == "no licence\n"


def test_what_a_server_warns_of_is_the_cause_if_it_says_nothing_else():
    assert found("starting\nWARNING: SLACK_TOKEN is not set\n").reason == "SLACK_TOKEN is not set"


@pytest.mark.parametrize(
    "piece", ["A_", "_npx/", "a", "archive-v0", "A_B ", "not set ", "EADDRINUSE:", "needs node "]
)
def test_whatever_a_server_writes_is_looked_through_in_a_moment(piece):
    text = (piece * 80_000)[:80_000]
    diagnose(text, StartAttempt("it", UVX, {}))  # a pattern that goes wild would never come back
