"""The command line: every command works on the same `Crib` that the library gives.

    main ─ connect?  → toolcrib.connect: a pipe to the daemon, loaded alone and at once
         ├ serve --stdio? → stdio: a client is answered while the gateway loads
         └ any other → app → GlobalOptions → the command → inquiry, where it asks → screen
                                                              ├ the gateway, if one runs
                                                              └ a crib of its own

`command_table` has all commands, in the groups that `toolcrib --help` shows; a command is loaded
when it is used. It is a function with typer's annotations: its docstring is its help, and
`docs/cli.md` is written from it. A file holds one command, or a few that share their body
(`verdicts`: allow, ask and deny). Commands with action words are a `CommandGroup` (`groups`):
gateway, keys, apps, rules, approvals, eval.

`global_options` has what stands before the command (`--config`, `--mcp-config`, `--tools`), and
opens the settings, the crib, the MCP servers or the running gateway by it. `consent` knows who
agrees to a change: `--yes`, a person at the terminal, or nobody. `screen` prints: text from
elsewhere is shown and never obeyed, a table fits the terminal, and `--json` prints everything.
`progress`, `warnings`, `completion` and `help` are what they say. `plain_values` reads words
without pydantic, and `inquiry` asks about the pool: both so that a command is there at once.

`refresh` lists the tools of servers for every command that needs it, by the gateway if one runs.
`client_plans` is what import, export and setup share. `checks` is what doctor looks at.

The command line is no API: programs use `toolcrib.Crib`. Nobody imports this package but the
console script, which finds `main` here.
"""

import gc
import sys

from toolcrib.connect import parse_connect, parse_serve_stdio

__all__ = ["main"]

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Run a command. What Toolcrib raises on purpose becomes one line and exit code 2."""
    options = parse_connect(sys.argv[1:])
    if options is not None:
        from toolcrib.connect import connect  # noqa: PLC0415 - it, and nothing else

        sys.exit(connect(options))
    try:
        _run_command()
    except Exception as error:
        from toolcrib.cli.screen import safe  # noqa: PLC0415 - seldom needed
        from toolcrib.errors import ToolcribError  # noqa: PLC0415

        if not isinstance(error, ToolcribError):
            raise
        sys.stderr.write(f"toolcrib: {safe(error).plain}\n")
        sys.exit(2)
    except KeyboardInterrupt:  # one more, while what the first has left is tidied up
        sys.exit(_interrupted())
    except SystemExit as ending:
        if ending.code == INTERRUPTED:
            _interrupted()
        raise
    finally:
        gc.freeze()  # at its end Python would look through all that was loaded, three times


def _run_command() -> None:
    options = parse_serve_stdio(sys.argv[1:])
    if options is not None:
        from toolcrib.cli.stdio import serve_at_once  # noqa: PLC0415 - a client waits

        serve_at_once(options)
    else:
        from toolcrib.cli.app import app  # noqa: PLC0415 - with typer

        app()


def _interrupted() -> int:
    """From here on another Ctrl-C ends the process at once, without a word."""
    import signal  # noqa: PLC0415 - seldom

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return INTERRUPTED
