"""Nothing that a model can reach approves a definition."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import toolcrib

ROOT = Path(toolcrib.__file__).parent
OPERATOR = "toolcrib.review"

REACHABLE = """
import sys
import toolcrib, toolcrib.crib.crib, toolcrib.execute.door, toolcrib.adapters.langgraph
import toolcrib.sources.settings_sources, toolcrib.sources.apps.registry
import toolcrib.sources.mcp.client.connection, toolcrib.sources.mcp.trust
print("\\n".join(name for name in sys.modules if name.startswith("toolcrib")))
"""


@pytest.mark.plan(45)
def test_what_serves_models_does_not_even_load_the_desk():
    command = [sys.executable, "-c", REACHABLE]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert "toolcrib.store.decisions" in loaded
    assert [name for name in loaded if name.startswith(OPERATOR)] == []


def test_only_the_operators_surfaces_use_the_desk():
    """Which of them may: the contract `review-desk` says so."""
    users = {
        path.relative_to(ROOT).parts[0]
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(OPERATOR)
    }
    assert users == {"cli", "dashboard", "review"}


def test_no_source_writes_a_verdict_by_hand():
    """First sight is all that sources may write: `trust` never overrules a decision."""
    verdict = re.compile(r"decisions\.(approve|reject|set_first_sight)\(|put_row\(")
    writing = [
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if verdict.search(path.read_text(encoding="utf-8"))
    ]
    assert sorted(writing) == ["review/desk.py", "store/decision_rows.py", "store/decisions.py"]
