"""The command line: one file a command, all over the same `Crib` that the library gives."""

import sys

from toolcrib.cli.app import app
from toolcrib.errors import ToolcribError

__all__ = ["app", "main"]


def main() -> None:
    """Run a command. What Toolcrib raises on purpose becomes one line and exit code 2."""
    try:
        app()
    except ToolcribError as error:
        sys.stderr.write(f"toolcrib: {error}\n")
        sys.exit(2)
