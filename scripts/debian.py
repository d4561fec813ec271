"""Debian's packages, for the tests that need a program of them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping


def install_packages(packages: Mapping[str, str]) -> None:
    """Install the package of each program that is not there, on Debian and its kin, as root.

    Elsewhere nothing is done, and standard error says what is missing. No service is started.
    """
    missing = [package for program, package in packages.items() if not shutil.which(program)]
    apt = shutil.which("apt-get")
    if not missing:
        return
    if apt is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        sys.stderr.write(f"not installed: {', '.join(missing)}; tests that need it are left out\n")
        return
    # In this runlevel a package starts nothing: a service would take ports of the machine.
    environ = {**os.environ, "RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}
    for line in (["update"], ["install", "--yes", "--no-install-recommends", *missing]):
        done = subprocess.run([apt, "-qq", *line], check=False, env=environ)  # noqa: S603 - our own words
        if done.returncode:
            sys.stderr.write(f"apt-get {line[0]} failed; some tests are left out\n")
