from pathlib import Path

import pytest

from training.arguments import POOL, ROOT, STEPS, read

WORK = ["--work", "w"]


@pytest.fixture
def sets(tmp_path):
    (tmp_path / POOL).mkdir()
    return ["--bench-dir", str(tmp_path)]


def refused(arguments, capsys) -> str:
    """What is said to arguments that are not taken."""
    with pytest.raises(SystemExit):
        read(arguments, None)
    return capsys.readouterr().err


def test_all_steps_are_done_unless_some_are_named(sets):
    assert read([*WORK, *sets], None).steps == STEPS
    assert read([*WORK, *sets, "--until", "bundle"], None).steps == ("fetch", "gather", "bundle")
    assert read([*WORK, *sets, "--from", "export"], None).steps == ("export",)


@pytest.mark.parametrize("option", ["--from", "--until"])
def test_a_step_that_there_is_not_is_answered_with_those_there_are(option, sets, capsys):
    said = refused([*WORK, *sets, option, "bundel"], capsys)
    assert f"argument {option}" in said
    assert all(step in said for step in ("bundel", *STEPS))


def test_steps_that_end_before_they_begin_are_refused(sets, capsys):
    said = refused([*WORK, *sets, "--from", "export", "--until", "train"], capsys)
    assert "--until train comes before --from export" in said


def test_the_sets_are_given_or_made_up(sets, capsys):
    assert "--bench-dir" in refused(WORK, capsys)
    assert "--bench-dir" in refused([*WORK, *sets, "--tiny"], capsys)


def test_sets_without_a_pool_are_refused_before_anything_is_fetched(tmp_path, capsys):
    sets = ["--bench-dir", str(tmp_path)]
    assert f"no folder {POOL} in {tmp_path}" in refused([*WORK, *sets], capsys)
    assert read([*WORK, *sets, "--until", "gather"], None).sets == tmp_path
    assert read([*WORK, *sets, "--show"], None).show


def test_a_tiny_model_stays_in_a_folder_of_its_own(sets):
    real, tiny = read([*WORK, *sets], None), read([*WORK, "--tiny"], None)
    assert (real.work, real.into) == (Path("w"), ROOT)
    assert (tiny.work, tiny.into) == (Path("w/tiny"), Path("w/tiny/made"))
    assert read([*WORK, "--tiny", "--into", "there"], None).into == Path("there")
