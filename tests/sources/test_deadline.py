import pytest

from tests.workshop import soon
from toolcrib.sources.deadline import LATE, left_s


def test_there_is_time_until_the_deadline_and_none_after_it():
    assert left_s(soon(5)) == pytest.approx(5, abs=0.5)
    assert left_s(soon(-5)) == 0


def test_nobody_knows_what_became_of_a_call_that_is_late():
    assert LATE.effect == "unknown"
    assert not LATE.retryable
