import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.confidence import (
    Seen,
    _cells,
    _chances,
    _curve,
    _fit,
    _mean,
    _sure_words,
    _word_fit,
    main,
)

RNG = np.random.default_rng(5)


def seen(name: str) -> Seen:
    """A set where both shares and cosines tell most of the time, and no rule speaks."""
    fitting = RNG.normal([0.5, 0.6, 0.0], [0.15, 0.15, 0.0], (60, 3))
    beside = RNG.normal([0.2, 0.3, 0.0], [0.15, 0.15, 0.0], (40, 3))
    rows, fits = np.concatenate([fitting, beside]), np.arange(100) < 60
    return of(name, rows, fits)


def of(name: str, rows: NDArray[np.float64], fits: NDArray[np.bool_]) -> Seen:
    """The same by words: the share, half of it as the lead, and a few terms."""
    words = np.column_stack([rows[:, 0], rows[:, 0] / 2, RNG.uniform(0, 2, len(rows))])
    return Seen(name, rows, fits, words, fits)


def test_a_fit_tells_fitting_from_beside():
    fit = _fit([seen("one"), seen("two")])
    assert fit.slope > 0 > fit.base
    other = seen("three")
    likely = _chances(fit, other)
    assert likely[other.fits].mean() > likely[~other.fits].mean() + 0.3


def test_a_fit_by_words_knows_a_lead():
    fit = _word_fit([seen("one"), seen("two")])
    assert fit.share + fit.lead > 0 > fit.base
    assert "right in " in _sure_words([seen("one"), seen("two"), seen("three")])


def test_what_a_rule_gives_is_the_least_of_a_chance():
    fit, low = _fit([seen("one"), seen("two")]), np.array([[0.0, 0.0, 0.25], [0.0, 0.0, 0.0]])
    ruled, left = _chances(fit, of("x", low, np.array([True, False])))
    assert left < ruled == 0.25


def test_every_set_counts_alike():
    odd = of("odd", np.array([[0.9, 0.9, 0.0], [0.1, 0.1, 0.0]]), np.array([False, True]))
    much = _fit([seen("one"), seen("two"), odd])
    many = [odd._replace(rows=np.tile(odd.rows, (500, 1)), fits=np.tile(odd.fits, 500))]
    assert _fit([seen("one"), seen("two"), *many]).slope == pytest.approx(much.slope, abs=2)


def test_a_row_says_what_is_answered_and_what_is_returned_in_vain():
    fits = np.array([True, True, False, False])
    cells = _cells("x", fits, np.array([0.9, 0.1, 0.5, 0.05]))
    assert cells[:5] == ["x", "2", "2", "50.0", "50.0"]
    assert _cells("y", fits[:2], np.array([0.9, 0.5]))[3:] == ["100.0", "–", "–"]


def test_in_the_mean_a_small_set_counts_as_much_as_a_large_one():
    lines = [["a", "900", "400", "99.0", "30.0", "20.0"], ["b", "9", "4", "97.0", "10.0", "5.0"]]
    assert _mean(lines)[3:] == ["98.0", "20.0", "12.5"]


def test_the_curve_rises():
    answered, vain = RNG.uniform(0.3, 1, 200), RNG.uniform(0, 0.7, 200)
    heights = [y for _, y in _curve("x", answered, vain).points]
    assert heights == sorted(heights)
    assert heights[0] < heights[-1]


def test_without_sets_it_says_so(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        main(["--bench-dir", "/nowhere"])
    assert "/nowhere" in capsys.readouterr().err
