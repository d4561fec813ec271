from typing import Any

import pytest

from toolcrib.gateway import sdk
from toolcrib.gateway.limits import (
    MOST_STREAMS,
    ConnectionRequestLimiter,
    Overloaded,
    RequestLimiter,
)


def test_each_principal_has_a_bound_and_so_have_all():
    limiter = RequestLimiter(most_of_one=2, most=3)
    limiter.enter("a")
    limiter.enter("a")
    with pytest.raises(Overloaded, match=r"2 requests of yours.*try again"):
        limiter.enter("a")
    limiter.enter("b")
    with pytest.raises(Overloaded, match="3 requests are under way"):
        limiter.enter("c")
    limiter.leave("a")
    limiter.enter("c")
    assert limiter.running == 3


def test_nobody_is_remembered_who_has_nothing_under_way():
    limiter = RequestLimiter()
    for number in range(100):
        limiter.enter(str(number))
        limiter.leave(str(number))
    assert not limiter._running


def request(id: int | str, method: str, **params: Any) -> sdk.JSONRPCRequest:
    return sdk.JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=params)


def answer(id: int | str) -> sdk.JSONRPCResponse:
    return sdk.JSONRPCResponse(jsonrpc="2.0", id=id, result={})


def of_connection(limiter: RequestLimiter) -> ConnectionRequestLimiter:
    return ConnectionRequestLimiter(limiter, "ann", lambda: True, lambda _method, _params: None)


def test_streams_do_not_count_as_work_and_have_an_end_of_their_own():
    limiter = RequestLimiter(1, 1)
    gate = of_connection(limiter)
    for id in range(MOST_STREAMS):
        assert gate.refusal(request(id, "subscriptions/listen")) is None
    assert limiter.running == 0
    over = gate.refusal(request("more", "subscriptions/listen"))
    assert over
    assert over.data["code"] == "overloaded"
    gate.outgoing(answer(0))
    assert gate.refusal(request("more", "subscriptions/listen")) is None


def test_an_id_is_free_again_when_it_was_answered():
    limiter = RequestLimiter(2, 2)
    gate = of_connection(limiter)
    for method in ("tools/list", "subscriptions/listen"):
        assert gate.refusal(request(1, method)) is None
        again = gate.refusal(request(1, "tools/list"))
        assert again
        assert again.code == sdk.INVALID_REQUEST
        gate.outgoing(answer(1))
    assert limiter.running == 0
