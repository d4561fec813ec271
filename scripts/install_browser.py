"""Installs what the tests in a browser need: Chromium, and axe-core, which looks for barriers.

python scripts/install_browser.py      install what is missing, and print where Chromium is

A Chromium of yours is taken first: `TOOLCRIB_CHROMIUM`, then the PATH. Where there is none,
Debian's is installed, as root. Elsewhere this ends with what to do. Playwright, which drives the
browser, is the dependency group `browser`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # as a program, its neighbours are not in sight

from scripts.npm import npm_install
from scripts.once import install_once, is_installed

FOLDER = Path(sys.prefix) / "browser-tests"
COMMAND = "make browser"
VARIABLE = "TOOLCRIB_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
NPM = {"axe-core": "4.14.0"}
AXE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"


def chromium(environ: Mapping[str, str] = os.environ) -> str | None:
    """The browser to take; None if there is none."""
    names = (environ.get(VARIABLE, ""), *NAMES)
    return next((found for each in names if each and (found := shutil.which(each))), None)


def installed() -> bool:
    """Whether all is there that the tests need."""
    return bool(chromium()) and find_spec("playwright") is not None and is_installed(FOLDER, NPM)


def install() -> str:
    """Install what is missing; the browser. Ends the program with what to do if it cannot."""
    install_once(FOLDER, NPM, lambda: npm_install(FOLDER, NPM))
    found = chromium()
    if found is None:
        _install_debians()
        found = chromium()
    if found is None:
        sys.exit(f"there is no Chromium here: install it, and name it in {VARIABLE}")
    return found


def _install_debians() -> None:
    apt = shutil.which("apt-get")
    if apt is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    for line in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        subprocess.run([apt, "-qq", *line], check=False)  # noqa: S603 - our own words


if __name__ == "__main__":
    print(install())
