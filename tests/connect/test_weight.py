"""The shim is there at once: what it loads is a list, and an addition is a decision."""

import json
import subprocess
import sys
from pathlib import Path

import toolcrib
from tests.connect.fakes import FakeDaemon, environ, files_in

MAY_LOAD = {
    "toolcrib",
    "toolcrib.lazy",
    "toolcrib.cli",
    "toolcrib.connect",
    "toolcrib.connect.arguments",
    "toolcrib.connect.daemon_connection",
    "toolcrib.connect.pending_requests",
    "toolcrib.connect.messages",
    "toolcrib.connect.daemon_files",
    "toolcrib.connect.first_replies",
    "toolcrib.connect.loading_progress",
    "toolcrib.connect.shim",
    "toolcrib.system",
    "toolcrib.system.daemon_folder",
}
# Parts of the standard library that would cost more than all the rest.
HEAVY = {"asyncio", "dataclasses", "inspect", "logging", "pathlib", "subprocess", "argparse"}

CONNECTING = """
import json, sys
before = set(sys.modules)
sys.argv = ["toolcrib", "connect"]
from toolcrib.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_connect_loads_the_shim_and_nothing_else(tmp_path: Path):
    source = str(Path(toolcrib.__file__).parents[1])
    daemon = FakeDaemon(files_in(tmp_path))
    done = subprocess.run(
        [sys.executable, "-S", "-W", "error", "-c", CONNECTING],
        env={**environ(tmp_path), "PYTHONPATH": source},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        text=True,
    )
    daemon.end()
    loaded = set(json.loads(done.stdout))
    assert {name for name in loaded if name.startswith("toolcrib")} == MAY_LOAD
    tops = {name.partition(".")[0] for name in loaded}
    assert tops <= sys.stdlib_module_names | {"toolcrib"}
    assert not tops & HEAVY
