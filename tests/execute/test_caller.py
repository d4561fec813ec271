import pytest

from toolcrib.access import Scope
from toolcrib.execute import Caller


def test_nobody_is_no_caller():
    with pytest.raises(ValueError, match="id"):
        Caller("")


def test_a_caller_of_whom_nothing_is_said_may_call_what_there_is():
    assert Caller("ann").scope == Scope()
