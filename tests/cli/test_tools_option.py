from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.sources.test_modules import MODULE, TOOLS_YAML


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "functions_of_mine.py"
    path.write_text(MODULE)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tools.yaml"
    path.write_text(TOOLS_YAML, encoding="utf-8")
    return path


def test_the_command_line_takes_modules_and_the_doctor_names_what_is_wrong(
    run: Run, file: Path, module: Path, tmp_path: Path
):
    config = tmp_path / "settings.toml"
    config.write_text(f'tools = ["{file}"]\nbuiltin_tools = false\nplugins = false\n')
    done = run("--config", str(config), "--tools", str(module), "list", "--json")
    assert [each["name"] for each in done.json] == ["look_up", "shout"]
    assert run("--config", str(config), "--tools", str(module), "doctor").code == 0
    file.write_text(TOOLS_YAML + "shout:\n  serachable: true\nlost: {}\n", encoding="utf-8")
    done = run("--config", str(config), "--tools", str(module), "doctor", "--json")
    assert done.code == 1
    assert "shout.serachable: unknown key; did you mean 'searchable'?" in done.out
    assert "lost: no function of this name was added" in done.out
    done = run("--config", str(config), "--tools", str(module), "list", "--json")
    assert [each["name"] for each in done.json] == ["look_up", "shout"]
