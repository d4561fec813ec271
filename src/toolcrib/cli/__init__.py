"""The command line: one file a command, all over the same `Crib` that the library gives.

Nothing is loaded before it is known which command it is: `connect` is there at once, the others
bring the whole crib.
"""

import sys

from toolcrib.connect import parse_connect

__all__ = ["main"]


def main() -> None:
    """Run a command. What Toolcrib raises on purpose becomes one line and exit code 2."""
    asked = parse_connect(sys.argv[1:])
    if asked is not None:
        from toolcrib.connect import connect  # noqa: PLC0415 - it, and nothing else

        sys.exit(connect(asked))
    _run_command()


def _run_command() -> None:
    from toolcrib.cli.app import app  # noqa: PLC0415 - half a second of imports
    from toolcrib.cli.screen import safe  # noqa: PLC0415
    from toolcrib.errors import ToolcribError  # noqa: PLC0415

    try:
        app()
    except ToolcribError as error:
        sys.stderr.write(f"toolcrib: {safe(error).plain}\n")
        sys.exit(2)
