import json
import sys
from pathlib import Path

from toolcrib.tools.environment import find_command, list_environment_variables, system_info


def test_the_machine_in_a_few_words():
    info = system_info()
    assert info["processors"] >= 1
    assert info["working_folder"] == str(Path.cwd())
    assert info["python"] == ".".join(map(str, sys.version_info[:3]))


def test_a_command_is_found_or_said_to_be_missing(monkeypatch):
    python = Path(sys.executable)
    monkeypatch.setenv("PATH", str(python.parent))
    assert find_command(python.name) == str(python)
    assert "no command 'no-such-command'" in find_command("no-such-command")


def test_names_are_listed_and_values_are_not(monkeypatch):
    monkeypatch.setenv("TOOLCRIB_TEST_TOKEN", "hunter2-secret")
    assert list_environment_variables("TOOLCRIB_TEST_") == ["TOOLCRIB_TEST_TOKEN"]
    assert "hunter2-secret" not in json.dumps(list_environment_variables())
