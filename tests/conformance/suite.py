"""The official conformance suite, run against a server over HTTP."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from socket import create_server

import yaml

from scripts.install_test_clients import FOLDER, command
from tests.waiting import HANG_S

EXPECTED_FAILURES = Path(__file__).with_name("expected_failures.yaml")
REVISIONS = {"2025-11-25": 30, "2026-07-28": 37}
"""The revisions of the protocol, and how many scenarios of a server each requires."""

SCENARIO = re.compile(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", re.MULTILINE)
REQUIREMENTS = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "requirements"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the suite found, over the scenarios required; `why` of those that failed."""

    passed: frozenset[str]
    failed: frozenset[str]
    why: str


def conformance(url: str, revision: str, folder: Path) -> Verdict:
    """Run every scenario that a revision requires of a server; the results go into the folder."""
    done = subprocess.run(
        [
            *command("conformance"),
            "server",
            *("--url", url),
            *("--requirements", revision),
            *("--expected-failures", str(EXPECTED_FAILURES)),
            *("--output-dir", str(folder)),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * HANG_S,
    )
    _, _, summary = done.stdout.partition("=== SUMMARY ===")
    failures = {name: failed for name, _, failed in SCENARIO.findall(summary)}
    wanted = required(revision)
    passed = frozenset(name for name in wanted if failures.get(name) == "0")
    why = _why(folder, wanted - passed) or (done.stdout + done.stderr if wanted - passed else "")
    return Verdict(passed, wanted - passed, why)


def free_port() -> int:
    """A port that nobody listens on."""
    with create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def required(revision: str) -> frozenset[str]:
    """The scenarios that a revision requires of a server."""
    return frozenset(yaml.safe_load((REQUIREMENTS / f"{revision}.yaml").read_text())["server"])


def _why(folder: Path, scenarios: frozenset[str]) -> str:
    """The checks that failed, a line each."""
    lines: list[str] = []
    for file in sorted(folder.glob("*/checks.json")):
        name = next((each for each in scenarios if f"server-{each}-20" in str(file)), None)
        checks = json.loads(file.read_text()) if name else []
        lines += [
            f"{name}: {check['id']}: {check.get('errorMessage')}"
            for check in checks
            if check["status"] == "FAILURE"
        ]
    return "\n".join(lines)
