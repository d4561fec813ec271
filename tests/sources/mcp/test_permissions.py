from itertools import product

import pytest

from toolcrib.model import Json
from toolcrib.sources.mcp.permissions import permission_from

HINTS: tuple[str, ...] = ("readOnlyHint", "destructiveHint", "openWorldHint", "idempotentHint")


@pytest.mark.parametrize(
    ("annotations", "kind"),
    [
        ({}, "write"),
        ({"readOnlyHint": True}, "write"),
        ({"destructiveHint": True}, "dangerous"),
        ({"destructiveHint": True, "readOnlyHint": True}, "dangerous"),
        ({"openWorldHint": True}, "network"),
        ({"destructiveHint": "yes", "openWorldHint": 1}, "write"),
    ],
)
def test_the_servers_word_may_raise(annotations, kind):
    assert permission_from(annotations, trusted=False, override=None) == kind


def test_no_word_of_an_untrusted_server_lowers_below_write():
    for values in product((True, False, None, "true", 1), repeat=len(HINTS)):
        annotations: dict[str, Json] = dict(zip(HINTS, values, strict=True))
        assert permission_from(annotations, trusted=False, override=None) != "read"


def test_a_trusted_server_may_say_that_it_only_reads():
    assert permission_from({"readOnlyHint": True}, trusted=True, override=None) == "read"
    assert permission_from({"readOnlyHint": False}, trusted=True, override=None) == "write"


def test_the_operator_has_the_last_word():
    said = permission_from({"destructiveHint": True}, trusted=False, override="read")
    assert said == "read"
