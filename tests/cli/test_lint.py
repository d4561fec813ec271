from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def bad(tmp_path: Path) -> str:
    path = tmp_path / "tools.yaml"
    path.write_text("run: {function: 'posixpath:basename', desc: {en: TODO}}", encoding="utf-8")
    return str(path)


def test_our_own_catalog_has_nothing_to_put_right(run: Run):
    ran = run("lint", "--strict")
    assert (ran.code, ran.out) == (0, "No findings.\n")


def test_a_file_is_looked_at_by_itself(run: Run, bad: str):
    ran = run("lint", bad)
    assert ran.code == 0
    assert "placeholder-description" in ran.out
    assert "4 findings: error 1, warning 2, note 1." in ran.out


def test_strict_is_exit_code_1(run: Run, bad: str):
    assert run("lint", bad, "--strict").code == 1


def test_as_json_every_finding_is_an_object(run: Run, bad: str):
    first, *_ = run("lint", bad, "--json").json
    assert (first["name"], first["severity"], first["source"]) == ("run", "error", "posixpath")
    assert first.keys() == {"source", "name", "severity", "rule", "message", "neighbour"}


def test_the_catalog_of_the_settings_is_looked_at(run: Run, config: str):
    skill = Path(config).parent / "skills" / "forms" / "SKILL.md"
    skill.write_text("---\nname: forms\ndescription: todo\n---\n", encoding="utf-8")
    ran = run("--config", config, "lint")
    assert "skills" in ran.out.splitlines()
    assert "skill_forms" in ran.out


def test_a_file_that_is_none_says_so(run: Run, tmp_path: Path):
    ran = run("lint", str(tmp_path / "nowhere.yaml"))
    assert "nowhere.yaml" in str(ran.error)
