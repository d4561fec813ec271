"""Installs bubblewrap, which the tests of isolated servers need, where that is easily done.

python scripts/install_bubblewrap.py

On Debian and its kin, as root. Elsewhere nothing is done, and those tests are left out.
"""

import os
import shutil
import subprocess
import sys


def main() -> None:
    if shutil.which("bwrap"):
        return
    apt = shutil.which("apt-get")
    if apt is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        sys.stderr.write("bubblewrap is not installed: the tests that need it are left out\n")
        return
    for line in (["update"], ["install", "--yes", "--no-install-recommends", "bubblewrap"]):
        done = subprocess.run([apt, "-qq", *line], check=False)  # noqa: S603 - our own words
        if done.returncode:
            sys.stderr.write(f"apt-get {line[0]} failed: tests that need bubblewrap are left out\n")


if __name__ == "__main__":
    main()
