import pytest

from toolcrib.evaluate.calibration import Forecast, Reliability, forecasts, reliability
from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.evaluation import EvalFound


def case(id: str, *relevant: str, **others: object) -> EvalCase:
    return EvalCase.model_validate({"id": id, "query": "?", "relevant": [*relevant], **others})


def test_an_answer_is_right_if_one_of_the_first_five_is():
    cases = [
        case("first", "a"),
        case("sixth", "f"),
        case("none"),
        case("same", "z", equiv={"a": "z"}),
    ]
    found = {each.id: EvalFound(list("abcdef"), list("abcdef"), 0.7) for each in cases}
    right = {each.id: said.right for each, said in forecasts(cases, found)}
    assert right == {"first": True, "sixth": False, "none": False, "same": True}


def test_what_was_held_back_counts_as_if_it_had_been_shown():
    held_back = {"q": EvalFound([], ["a"], 0.1)}
    assert [said for _, said in forecasts([case("q", "a")], held_back)] == [Forecast(0.1, True)]


def test_answers_of_one_chance_are_one_bin():
    some = [Forecast(0.91, True), Forecast(0.99, True), Forecast(1.0, False), Forecast(0.0, False)]
    low, high = reliability(some).bins
    assert low == (1, 0.0, 0.0)
    assert high == (3, pytest.approx(2.9 / 3), pytest.approx(2 / 3))


def test_the_error_is_the_mean_distance_by_count():
    some = [*[Forecast(0.8, True)] * 3, Forecast(0.8, False), *[Forecast(0.2, False)] * 4]
    assert reliability(some).error == pytest.approx((4 * 0.05 + 4 * 0.2) / 8)
    assert reliability([Forecast(1.0, True)]).error == 0


def test_nothing_has_no_error():
    assert reliability([]) == Reliability([])
    assert reliability([]).error is None
