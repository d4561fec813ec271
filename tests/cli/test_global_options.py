from pathlib import Path

import pytest

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.errors import ConfigError


def test_settings_are_read_from_the_file_that_was_asked_for_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = tmp_path / "settings.toml"
    config.write_text('index = "sqlite"\n[search]\nlimit = 3\n', encoding="utf-8")
    monkeypatch.setenv("TOOLCRIB_SEARCH__LIMIT", "4")
    settings = GlobalOptions(config).settings()
    assert (settings.index, settings.search.limit) == ("sqlite", 4)
    with pytest.raises(ConfigError):
        GlobalOptions(tmp_path / "nowhere.toml").settings()


def test_a_crib_is_opened_with_its_problems_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("TOOLCRIB_SKILLS", str(tmp_path / "nowhere"))
    with GlobalOptions().crib() as crib:
        assert "read_file" in crib.entries()
    assert capsys.readouterr().err.startswith("toolcrib: warning: ")
