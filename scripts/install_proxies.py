"""Installs HAProxy and nginx, which the tests of deployment need, where that is easily done.

python scripts/install_proxies.py
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # as a program, its neighbours are not in sight

from scripts.debian import install_packages

if __name__ == "__main__":
    install_packages({"haproxy": "haproxy", "nginx": "nginx-light"})
