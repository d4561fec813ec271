import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.execute.counting import ANN
from toolcrib.execute import results as results_
from toolcrib.execute.caller import Caller
from toolcrib.execute.refusal import Refused
from toolcrib.execute.results import KEPT_S, Results
from toolcrib.model import CallError, Outcome


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def whole(results: Results, outcome: Outcome) -> str:
    """The text of a result, part by part."""
    text = str(outcome.content)
    while outcome.handle:
        outcome = results.rest(outcome.handle, ANN, len(text))
        assert outcome.content
        text += str(outcome.content)
    return text


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("short"),
        Outcome(None),
        Outcome([{"type": "text", "text": "x"}], {"a": 1}),
        Outcome(error=CallError("x", "call", "y" * 100)),
    ],
)
def test_what_fits_is_given_as_it_is(outcome: Outcome):
    assert Results(60).capped(outcome, ANN) is outcome


@given(st.text(st.characters(), min_size=1, max_size=200), st.integers(4, 40))
def test_the_parts_of_a_text_are_the_whole_of_it_and_none_is_too_large(text: str, most: int):
    results = Results(most)
    first = results.capped(Outcome(text), ANN)
    assert len(str(first.content).encode("utf-8", "replace")) <= most
    assert whole(results, first) == text


def test_the_text_of_a_single_block_is_cut_as_text():
    first = Results(20).capped(Outcome([{"type": "text", "text": "x" * 50}]), ANN)
    assert first.content == "x" * 20


def test_other_content_is_cut_as_json():
    results = Results(20)
    first = results.capped(Outcome(list(range(50))), ANN)
    assert first.content == "[0, 1, 2, 3, 4, 5, 6"
    assert whole(results, first) == str(list(range(50)))


def test_structured_content_that_fits_is_kept():
    first = Results(20).capped(Outcome("x" * 50, {"a": 1}), ANN)
    assert first.structured == {"a": 1}


def test_structured_content_that_does_not_fit_is_behind_the_handle_too():
    results = Results(20)
    first = results.capped(Outcome("x", {"a": "y" * 50}), ANN)
    assert first.structured is None
    assert whole(results, first) == '{"content": "x", "structured": {"a": "' + "y" * 50 + '"}}'


def refused(results: Results, handle: str, caller: Caller = ANN) -> str:
    with pytest.raises(Refused) as caught:
        results.rest(handle, caller, 0)
    return caught.value.error.code


def test_a_handle_is_for_its_caller_and_for_a_while():
    clock = Clock()
    results = Results(5, clock)
    handle = results.capped(Outcome("x" * 50), ANN).handle
    assert refused(results, handle, Caller("eve")) == refused(results, "none") == "unknown_handle"
    clock.now = KEPT_S - 1
    assert results.rest(handle, ANN, 5).content == "xxxxx"
    clock.now = KEPT_S
    assert refused(results, handle) == "unknown_handle"


@pytest.mark.parametrize(("offset", "part"), [(-5, "xxxxx"), (49, "x"), (50, ""), (10**9, "")])
def test_an_offset_is_where_it_is_or_at_an_end(offset: int, part: str):
    results = Results(5)
    handle = results.capped(Outcome("x" * 50), ANN).handle
    rest = results.rest(handle, ANN, offset)
    assert rest.content == part
    assert bool(rest.handle) == (offset < 0)


def test_the_oldest_makes_room(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(results_, "KEPT_BYTES", 100)
    results = Results(5)
    handles = [results.capped(Outcome("x" * 50), ANN).handle for _ in range(3)]
    assert refused(results, handles[0]) == "unknown_handle"
    assert [results.rest(handle, ANN, 45).content for handle in handles[1:]] == ["xxxxx"] * 2
