from tests.workshop import soon
from toolcrib.sources.deadline import LATE, left_s


def test_there_is_time_until_the_deadline_and_none_after_it():
    assert 0 < left_s(soon(100)) <= 100
    assert left_s(soon(-5)) == 0


def test_nobody_knows_what_became_of_a_call_that_is_late():
    assert LATE.effect == "unknown"
    assert not LATE.retryable
