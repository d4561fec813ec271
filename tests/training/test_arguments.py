from pathlib import Path

import pytest

from training.arguments import ROOT, STEPS, read

WORK = ["--work", "w"]
SETS = ["--bench-dir", "s"]


def test_all_steps_are_done_unless_some_are_named():
    assert read([*WORK, *SETS], None).steps == STEPS
    assert read([*WORK, *SETS, "--until", "bundle"], None).steps == ("fetch", "gather", "bundle")
    assert read([*WORK, *SETS, "--from", "mix"], None).steps == ("mix",)


@pytest.mark.parametrize("option", ["--from", "--until"])
def test_a_step_that_there_is_not_is_answered_with_those_there_are(option, capsys):
    with pytest.raises(SystemExit):
        read([*WORK, *SETS, option, "bundel"], None)
    said = capsys.readouterr().err
    assert f"argument {option}" in said
    assert all(step in said for step in ("bundel", *STEPS))


def test_steps_that_end_before_they_begin_are_refused(capsys):
    with pytest.raises(SystemExit):
        read([*WORK, *SETS, "--from", "mix", "--until", "train"], None)
    assert "--until train comes before --from mix" in capsys.readouterr().err


@pytest.mark.parametrize("given", [[], [*SETS, "--tiny"]])
def test_the_sets_are_given_or_made_up(given, capsys):
    with pytest.raises(SystemExit):
        read([*WORK, *given], None)
    assert "--bench-dir" in capsys.readouterr().err


def test_a_tiny_model_stays_in_its_folder():
    assert read([*WORK, *SETS], None).into == ROOT
    assert read([*WORK, "--tiny"], None).into == Path("w/made")
    assert read([*WORK, "--tiny", "--into", "there"], None).into == Path("there")
