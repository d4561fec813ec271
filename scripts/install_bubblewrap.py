"""Installs bubblewrap, which the tests of isolated servers need, where that is easily done.

python scripts/install_bubblewrap.py
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # as a program, its neighbours are not in sight

from scripts.debian import install_packages

if __name__ == "__main__":
    install_packages({"bwrap": "bubblewrap"})
