"""What counts as a `traceparent`, and what becomes of the rest."""

import pytest

from toolcrib.model import is_sampled, read_traceparent, read_tracestate, span_id, trace_id

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_its_parts():
    read = read_traceparent(f"00-{TRACE}-{SPAN}-01")
    assert (trace_id(read), span_id(read), is_sampled(read)) == (TRACE, SPAN, True)
    assert not is_sampled(read_traceparent(f"00-{TRACE}-{SPAN}-00"))
    assert (trace_id(""), span_id(""), is_sampled("")) == ("", "", False)


def test_a_later_version_is_read_as_far_as_it_is_known():
    assert read_traceparent(f"cc-{TRACE}-{SPAN}-03-more") == f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    "given",
    [
        None,
        7,
        "",
        "00",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\n",
        f" 00-{TRACE}-{SPAN}-01",
    ],
)
def test_all_else_is_none(given: object):
    assert read_traceparent(given) == ""


def test_a_state_is_handed_on_as_it_is_or_not_at_all():
    assert read_tracestate("a=1,b=2") == "a=1,b=2"
    for given in (None, 3, "a" * 513, "a=ü", "a=\n"):
        assert read_tracestate(given) == ""
