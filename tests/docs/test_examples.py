"""What the documentation shows runs as it stands."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from toolcrib.settings import documented, load_settings
from toolcrib.sources import FunctionSource, declare_tools

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOOLS_YAML = ROOT / "docs" / "guide" / "tools-yaml.md"


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def pages_with(language: str):
    pages = [page for page in PAGES if blocks(page, language)]
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.name)


@pages_with("python")
def test_python_runs(page: Path, tmp_path: Path):
    program = tmp_path / "example.py"
    program.write_text("\n".join(blocks(page, "python")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", program],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pages_with("toml")
def test_settings_load(page: Path, tmp_path: Path):
    keys = {each.key.partition(".")[0] for each in documented()}
    for number, block in enumerate(blocks(page, "toml")):
        if keys & tomllib.loads(block).keys():
            file = tmp_path / f"{number}.toml"
            file.write_text(block, encoding="utf-8")
            assert load_settings({}, file)


@pytest.fixture
def example_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "my_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "web.py").write_text("def search(query: str) -> str:\n    return query\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for module in [name for name in sys.modules if name.partition(".")[0] == "my_package"]:
        del sys.modules[module]


@pytest.mark.usefixtures("example_module")
def test_the_declared_tool_is_what_the_page_says(tmp_path: Path):
    (example,) = blocks(TOOLS_YAML, "yaml")
    file = tmp_path / "tools.yaml"
    file.write_text(example, encoding="utf-8")
    (tool,) = declare_tools(FunctionSource(), file)
    assert tool.name == "web_search"
    assert tool.display["zh-CN"] == "网页搜索"
    assert tool.permission_kind == "network"
    assert tool.often_with == ("fetch_url",)


@pytest.mark.usefixtures("example_module")
def test_a_misspelt_key_is_reported_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (example,) = blocks(TOOLS_YAML, "yaml")
    monkeypatch.chdir(tmp_path)
    file = Path("tools.yaml")
    file.write_text(example.replace("searchable:", "serachable:"), encoding="utf-8")
    source = FunctionSource()
    declare_tools(source, file)
    assert f"    {source.problems[0]}\n" in TOOLS_YAML.read_text(encoding="utf-8")


def test_the_written_pages_are_fresh():
    script = ROOT / "scripts" / "write_docs.py"
    command = [sys.executable, script, "--check"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_error_is_documented():
    from toolcrib import errors  # noqa: PLC0415 - only this test looks inside

    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    names = [name for name, value in vars(errors).items() if isinstance(value, type)]
    assert [name for name in names if f"`{name}`" not in page] == []
