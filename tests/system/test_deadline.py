from tests.workshop import soon
from toolcrib.system import DEADLINE_PASSED, seconds_left


def test_there_is_time_until_the_deadline_and_none_after_it():
    assert 0 < seconds_left(soon(100)) <= 100
    assert seconds_left(soon(-5)) == 0


def test_nobody_knows_what_became_of_a_call_that_is_late():
    assert DEADLINE_PASSED.effect == "unknown"
    assert not DEADLINE_PASSED.retryable
