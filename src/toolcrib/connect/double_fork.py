"""Runs a command that nobody is the parent of: `python -P -m toolcrib.connect.double_fork COMMAND`.

Some clients end what they launched by walking down from it. The daemon is everybody's, so it must
not stand below the one client that happened to come first.
"""

import os
import sys


def main(command: list[str]) -> None:
    """Become the command, in a session of its own, while whoever called us may go on."""
    if os.fork():
        os._exit(0)
    os.setsid()
    os.execv(command[0], command)  # noqa: S606 - our own interpreter, by its full path


if __name__ == "__main__":
    main(sys.argv[1:])
