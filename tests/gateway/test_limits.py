import pytest

from toolcrib.gateway.limits import Overloaded, RequestLimiter


def test_each_guest_has_a_bound_and_so_have_all():
    admission = RequestLimiter(most_of_one=2, most=3)
    admission.enter("a")
    admission.enter("a")
    with pytest.raises(Overloaded, match=r"2 requests of yours.*try again"):
        admission.enter("a")
    admission.enter("b")
    with pytest.raises(Overloaded, match="3 requests are under way"):
        admission.enter("c")
    admission.leave("a")
    admission.enter("c")
    assert admission.running == 3


def test_nobody_is_remembered_who_has_nothing_under_way():
    admission = RequestLimiter()
    for number in range(100):
        admission.enter(str(number))
        admission.leave(str(number))
    assert not admission._running
