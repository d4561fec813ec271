"""Installs the server of Debian's PostgreSQL, on which `make postgres` tries the shared store.

python scripts/install_postgres.py

On Debian and its kin, as root. No server of the system is started: the tests start their own.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path("/usr/lib/postgresql")


def main() -> None:
    if os.environ.get("PG_BIN") or any(FOLDER.glob("*/bin/postgres")):
        return
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        sys.exit("PostgreSQL is not installed: name the folder of its programs in PG_BIN")
    # Its set-up would make a cluster of its own and start it.
    settings = Path("/etc/postgresql-common/createcluster.conf")
    if not settings.exists():
        settings.parent.mkdir(exist_ok=True)
        settings.write_text("create_main_cluster = false\n", encoding="utf-8")
    for line in (["update"], ["install", "--yes", "--no-install-recommends", "postgresql-15"]):
        subprocess.run([apt, "-qq", *line], check=True)  # noqa: S603 - our own words


if __name__ == "__main__":
    main()
