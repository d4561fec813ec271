from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.chance_fit import EVERYDAY, LOWER_BOUNDS, Seen, fitted, judged
from benchmarks.confidence import FITS, LOOK, _cells, _curve, _error, _words, main, report

RNG = np.random.default_rng(5)


def seen(name: str, numbers: int = 3) -> Seen:
    """A set where the evidence tells most of the time, and no rule speaks."""
    fitting = RNG.normal(0.6, 0.15, (60, numbers))
    beside = RNG.normal(0.3, 0.15, (40, numbers))
    return of(name, np.concatenate([fitting, beside]), np.arange(100) < 60)


def of(name: str, rows: NDArray[np.float64], fits: NDArray[np.bool_]) -> Seen:
    open_ = np.tile([0.0, 1.0], (len(rows), 1))
    none = np.zeros(len(rows), dtype=bool)
    return Seen(name, rows, open_, np.arange(len(rows)), fits, fits, none)


def test_a_fit_tells_right_from_wrong():
    *slopes, base = fitted([seen("one"), seen("two")])
    assert min(slopes) > 0 > base
    other = seen("three")
    likely = other.chances(np.array([*slopes, base]))
    assert likely[other.fits].mean() > likely[~other.fits].mean() + 0.3


def test_what_a_rule_leaves_bounds_a_chance():
    constants = fitted([seen("one"), seen("two")])
    some = of("x", np.tile([0.0, 0.9, 0.9], (3, 1)), np.array([True, False, True]))
    bounds = np.array([[0.1, 0.1], [0.0, 1.0], [1.0, 1.0]])
    absent, free, named = replace(some, bounds=bounds).chances(constants)
    assert absent == 0.1 < free < 1.0 == named


def test_the_chance_of_a_task_is_the_mean_of_what_is_answered():
    some = of("x", np.array([[0.1], [0.9], [-9.0], [0.5], [-9.0]]), np.arange(5) < 3)
    task = replace(some, query=np.array([0, 0, 0, 1, 2]), fits=some.fits[2:], right=some.fits[2:])
    constants = np.array([1.0, 0.0])
    alone = some.chances(constants)
    assert task.chances(constants).tolist() == pytest.approx([alone[:2].mean(), *alone[3:]])


def test_a_fit_is_made_of_queries_of_which_no_rule_speaks():
    odd = of("odd", np.array([[0.9], [0.1], [0.9], [0.1]]), np.array([False, True, False, True]))
    named = replace(odd, bounds=np.ones((4, 2)))
    task = replace(odd, query=np.array([0, 0, 1, 1]))
    sets = [seen("one", 1), seen("two", 1)]
    assert np.allclose(fitted([*sets, named]), fitted(sets))
    assert np.allclose(fitted([*sets, task]), fitted(sets))
    assert not np.allclose(fitted([*sets, odd]), fitted(sets))


def test_nothing_is_fitted_to_labels_that_leave_right_tools_out():
    sets, unsure = [seen("one"), seen("two")], seen(LOWER_BOUNDS[0])
    assert np.allclose(fitted([*sets, replace(unsure, right=~unsure.right)]), fitted(sets))


def test_every_set_counts_alike_and_everyday_as_four():
    some = seen("one")
    assert some.weights().sum() == pytest.approx(1)
    assert some.weights()[~some.fits].sum() == pytest.approx(0.2)
    assert some.part(some.fits).weights().sum() == pytest.approx(1)
    assert seen(EVERYDAY).weights().sum() == pytest.approx(4)
    few = replace(some, few=np.arange(100) < 10)
    assert few.weights()[few.few].sum() == pytest.approx(0.4)
    assert few.weights().sum() == pytest.approx(1)


def test_a_query_is_judged_by_a_fit_that_has_not_seen_it():
    one, two = seen("one", 1), seen("two", 1)
    by_one, by_two = judged([one, two])
    assert np.allclose(by_one, one.chances(fitted([two])))
    assert np.allclose(by_two, two.chances(fitted([one])))


def test_everyday_is_judged_by_the_rest_of_it_too():
    reverse = seen(EVERYDAY, 1)
    reverse = replace(reverse, right=~reverse.right)
    likely = judged([seen("one", 1), reverse])[-1]
    assert likely[reverse.right].mean() > likely[~reverse.right].mean()


def test_a_row_says_what_is_lost_and_what_is_left_empty():
    fits = np.array([True, True, False, False])
    some = of("x", np.zeros((4, 1)), fits)
    cells = _cells("x", some, np.array([0.9, 0.1, 0.5, 0.05]))
    assert cells[:3] == ["x", "2", "2"]
    assert cells[4] == "80.0"
    assert cells[6:] == ["50.0", "50.0", "50.0"]
    assert _cells("y", some.part(fits), np.array([0.9, 0.5]))[6:] == ["0.0", "–", "–"]


def test_the_error_is_nought_where_what_is_said_comes_true():
    right, weights = np.array([True, True, True, False]), np.full(4, 0.25)
    assert _error(right, np.full(4, 0.75), weights) == pytest.approx(0)
    assert _error(right, np.array([1.0, 1.0, 1.0, 1.0]), weights) == pytest.approx(0.25)


def test_each_word_says_how_often_it_is_right():
    some = of("x", np.zeros((3, 1)), np.array([True, False, True]))
    said = list(_words([(some, np.array([0.95, 0.95, 0.2]))]))
    assert said == ["50.0 of 2", "–", "100.0 of 1", "–"]


def test_the_report_has_the_constants_of_all_three():
    sizes = {kind: len(fit._fields) - 1 for kind, fit in FITS.items()}
    every = {kind: [seen(n, size) for n in ("a", "b", EVERYDAY)] for kind, size in sizes.items()}
    few = [replace(each, few=np.arange(100) < 10) for each in every[LOOK]]
    text = report({**every, LOOK: few})
    assert "BY_LOOK = LookFit(" in text
    assert "BY_WORDS = WordFit(" in text
    assert "| a, all among few | 10 | 40 |" in text
    assert "| a | 50 | 40 |" in text


def test_the_curve_rises():
    answered, vain = RNG.uniform(0.3, 1, 200), RNG.uniform(0, 0.7, 200)
    heights = [y for _, y in _curve("x", answered, vain).points]
    assert heights == sorted(heights)
    assert heights[0] < heights[-1]


def test_without_sets_it_says_so(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        main(["--bench-dir", "/nowhere"])
    assert "/nowhere" in capsys.readouterr().err
