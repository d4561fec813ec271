import pytest

from tests.terminal import at_terminal
from toolcrib.cli import progress as module
from toolcrib.cli.progress import progress, tracked


def test_in_a_pipe_there_is_a_line_now_and_then_on_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "EVERY_S", 0.0)
    with progress() as told:
        assert list(tracked("ab", "reading", told)) == ["a", "b"]
    assert capsys.readouterr() == ("", "reading: 1 of 2\nreading: 2 of 2\n")


def test_what_is_quick_or_quiet_says_nothing(capsys: pytest.CaptureFixture[str]):
    with progress() as told:
        told("reading", 1, 2)
    with progress(quiet=True) as told:
        told("reading", 2, 2)
    assert capsys.readouterr() == ("", "")


def test_at_a_terminal_a_bar_comes_and_goes():
    shown = at_terminal("index")
    assert shown.code == 0
    assert "indexing" in shown.raw
    assert "indexing" not in shown.text
