"""What a daemon does before it may be one."""

import subprocess
import sys

HELD = """
import sys
from pathlib import Path

from toolcrib.connect import ConnectOptions, locate_daemon
from toolcrib.errors import ConfigError
from toolcrib.gateway import run_daemon
from toolcrib.gateway.daemon_lock import DaemonLock

files = locate_daemon(ConnectOptions(), {"HOME": sys.argv[1], "TOOLCRIB_RUN_FOLDER": sys.argv[1]})
lock = DaemonLock(files, 0.0)
try:
    run_daemon(files, lambda: None, lambda _settings: [], lambda _info: None)
except ConfigError:
    print("mcp" in sys.modules)
finally:
    lock.close()
"""


def test_one_that_finds_another_ends_before_it_loads_the_sdk(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", HELD, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "False\n", done.stderr
