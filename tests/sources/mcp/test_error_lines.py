import sys

import pytest

from tests.sources.mcp.faking import nothing_left
from tests.waiting import HANG_S
from toolcrib.sources.mcp import ServerCommand, ServerConfig
from toolcrib.sources.mcp.server_log import error_lines
from toolcrib.sources.mcp.transport.stdio import STDERR_HEAD, STDERR_TAIL

PYTHON = """starting
Traceback (most recent call last):
  File "/srv/a.py", line 3, in <module>
    main()
KeyError: 'first'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/a.py", line 5, in <module>
    raise SystemExit
ValueError: SLACK_TOKEN is not set
"""
GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "/srv/a.py", line 3
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/srv/b.py", line 7
    | RuntimeError: no licence
    +------------------------------------
"""
NODE = """node:internal/modules/esm/resolve:873
  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);
        ^

Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/index.js
    at packageResolve (node:internal/modules/esm/resolve:873:9)
    at moduleResolve (node:internal/modules/esm/resolve:946:18)

Node.js v22.1.0
"""
COBRA = """Error: invalid configuration: no configuration has been provided
Usage:
  kubernetes-mcp-server [command] [options] [flags]

Flags:
      --error-format string   how an error is shown: error, fatal
  -h, --help                  help
"""
ARGPARSE = """usage: server [-h] [--token TOKEN]
server: error: the following arguments are required: --token
"""
LOGGED = """2026-01-02 10:00:00 INFO main: starting
2026-01-02 10:00:01 ERROR main: the database refused us
2026-01-02 10:00:01 INFO main: bye
"""
ZOD = """Error: Invalid environment:
  SLACK_TOKEN: Required
    at check (/srv/index.js:3:1)
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (PYTHON, "ValueError: SLACK_TOKEN is not set"),
        (GROUP, "RuntimeError: no licence"),
        (NODE, "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from "),
        (COBRA, "Error: invalid configuration: no configuration has been provided"),
        (ARGPARSE, "server: error: the following arguments are required: --token"),
        (LOGGED, "2026-01-02 10:00:01 ERROR main: the database refused us"),
        ("E1116 06:00:00.1 7 main.go:3] no cluster\n", "E1116 06:00:00.1 7 main.go:3] no cluster"),
        ("hello\ncould not open /x\n", "could not open /x"),
        ("Please set SLACK_TOKEN\nnpm notice\nnpm notice New version!\n", "Please set SLACK_TOKEN"),
        ("npm warn deprecated x\n(node:7) Warning: y\nFailed to go\n", "Failed to go"),
        (ZOD, "Error: Invalid environment:\nSLACK_TOKEN: Required"),
    ],
)
def test_the_line_that_tells_why_is_found(text, why):
    found = error_lines(text)
    assert found.startswith(why)
    assert "npm" not in found
    assert "usage" not in found.lower()
    assert " at " not in found


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "\n\n", "--error\n"])
def test_a_text_that_tells_nothing_stays_whole(text):
    assert error_lines(text) == text


def test_a_warning_of_a_library_is_not_what_a_failure_says(shop):
    code = (
        "import sys, warnings; warnings.warn('cannot find the tokenizer');"
        "print('WARNING hub: could not log in', file=sys.stderr);"
        "sys.exit('cannot read the licence')"
    )
    command = ServerCommand(sys.executable, ("-S", "-c", code))
    with nothing_left():
        done = shop.source(ServerConfig("k8s", command)).refresh().result(HANG_S)
        shop.reopen()
    assert done.error.endswith("It said: cannot read the licence")


def test_an_error_before_a_long_usage_text_is_what_a_failure_says(shop):
    """The cause stands first, behind it comes more than is kept of the end."""
    code = (
        "import sys; sys.stderr.write('Error: no cluster, token ' + sys.argv[1] + '\\nUsage:\\n');"
        f"sys.stderr.write('  --option   what it does\\n' * {STDERR_HEAD + STDERR_TAIL})\n"
        "sys.exit(1)"
    )
    command = ServerCommand(sys.executable, ("-S", "-c", code, "--api-key=hunter2222"))
    with nothing_left():
        done = shop.source(ServerConfig("k8s", command)).refresh().result(HANG_S)
        shop.reopen()
    assert done.error == (
        "did not start: Connection closed. exit status 1. "
        "It said: Error: no cluster, token --api-key=***"
    )
