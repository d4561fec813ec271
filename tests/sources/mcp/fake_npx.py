"""Stands in for a package runner: `npx GO WHOLE COMMAND...`, under whatever name it is linked.

It installs until the file GO is there, then leaves the file WHOLE, and runs the command below
itself. Each start adds a line to GO.starts.
"""

import subprocess
import sys
import time
from pathlib import Path


def install(go: str, whole: str) -> None:
    with Path(f"{go}.starts").open("a") as starts:
        starts.write("start\n")
    while not Path(go).exists():
        sys.stderr.write("npm warn fetching\n")
        sys.stderr.flush()
        time.sleep(0.05)
    Path(whole).write_text("whole")


go, whole, *command = sys.argv[1:]
install(go, whole)
sys.exit(subprocess.run(command, check=False).returncode if command else 0)
