import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from toolcrib.cli.app import app
from toolcrib.cli.command_table import GROUPS

COMMANDS = {name: entry.load() for entries in GROUPS.values() for name, entry in entries.items()}


class Ran(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str
    error: BaseException | None

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as a terminal of 200 columns without colour would."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str) -> Ran:
        result = CliRunner().invoke(app, list(arguments))
        return Ran(result.exit_code, result.stdout, result.stderr, result.exception)

    return run


def unlisted(run: Run) -> Run:
    """The same, but that `import` starts none of the servers it takes: they are real packages."""

    def unlisting(*arguments: str) -> Ran:
        return run(*arguments, *(["--no-list"] if "import" in arguments else []))

    return unlisting


# What a stranger may put into a text: an escape sequence, our own markup, a bell, a carriage
# return that hides what was before it, a change of direction.
NASTY = "[bold red]Fill\x1b[31m forms\x07\r[/bold red] \u202eecap\x9b2J [link=http://x]here[/link]"


@pytest.fixture
def config(tmp_path: Path) -> str:
    """A settings file with nothing but one skill, and that one is a stranger's."""
    skill = tmp_path / "skills" / "forms" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: forms\ndescription: {json.dumps(NASTY)}\n---\n", encoding="utf-8")
    path = tmp_path / "settings.toml"
    path.write_text(
        'store = "catalog.db"\nskills = ["skills"]\nbuiltin_tools = false\nplugins = false\n',
        encoding="utf-8",
    )
    return str(path)


SHOP_TOOLS = """
double:
  function: shop_tools:double
  permission_kind: read
long:
  function: shop_tools:long
  permission_kind: read
pay:
  function: shop_tools:pay
  permission_kind: dangerous
"""
SHOP = '''
def double(n: int) -> int:
    """Double a number."""
    return 2 * n

def long() -> str:
    """Return much."""
    return "0123456789" * 5

def pay(to: str) -> str:
    """Pay somebody."""
    return f"paid {to}\\x1b[31m"
'''


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A settings file with three functions: two that read, and one that needs approval."""
    (tmp_path / "shop_tools.py").write_text(SHOP)
    (tmp_path / "tools.yaml").write_text(SHOP_TOOLS)
    file = tmp_path / "settings.toml"
    file.write_text(
        'store = "catalog.db"\ntools = ["tools.yaml"]\nbuiltin_tools = false\nplugins = false\n'
        '[embed]\nembedder = "none"\n[call]\npage_tokens = 4\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "shop_tools", sys.modules.get("shop_tools"))
    monkeypatch.delitem(sys.modules, "shop_tools")
    return str(file)
