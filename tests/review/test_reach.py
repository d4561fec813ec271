"""Nothing that a model can reach approves a definition."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import toolcrib

ROOT = Path(toolcrib.__file__).parent
OPERATOR = ("toolcrib.review", "toolcrib.store.verdicts")

REACHABLE = """
import sys
import toolcrib, toolcrib.crib, toolcrib.execute.door, toolcrib.adapters.langgraph
import toolcrib.sources.configured, toolcrib.sources.apps.apps
import toolcrib.sources.mcp.connection
print("\\n".join(name for name in sys.modules if name.startswith("toolcrib")))
"""


@pytest.mark.plan(45)
def test_what_serves_models_does_not_even_load_the_desk():
    command = [sys.executable, "-c", REACHABLE]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert "toolcrib.store.decisions" in loaded
    assert [name for name in loaded if name.startswith(OPERATOR)] == []


def test_only_commands_use_the_desk_and_the_desk_alone_the_verdicts():
    users = {
        (str(path.relative_to(ROOT)), name)
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for name in [node.module or ""]
        if name.startswith(OPERATOR)
    }
    outside = {path for path, _ in users if not path.startswith("review/")}
    commands = {"review", "rules", "server_approval", "verdicts"}
    assert outside == {f"cli/{name}.py" for name in commands}
    assert {path for path, name in users if name == OPERATOR[1]} == {"review/desk.py"}


def test_no_source_writes_a_verdict_by_hand():
    """First sight is all that sources may write: `trust` never overrules a decision."""
    writing = [
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in (".put(db", "set_first_sight("))
    ]
    assert sorted(writing) == ["store/decisions.py", "store/verdicts.py"]
