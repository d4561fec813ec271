"""The kind of a tool that somebody else describes."""

from itertools import product
from typing import get_args

import pytest

from toolcrib.model import PermissionKind
from toolcrib.sources import permission_from

HINTS = ("readOnlyHint", "destructiveHint", "openWorldHint", "idempotentHint")
EVERY = [
    {hint: said for hint, said in zip(HINTS, saying, strict=True) if said != "unsaid"}
    for saying in product((True, False, "unsaid", "true", 1), repeat=len(HINTS))
]


def test_what_is_not_known_is_write():
    assert permission_from({}, believed=False) == "write"
    assert permission_from({}, believed=True) == "write"


@pytest.mark.plan(47)
def test_no_word_of_a_server_lowers_the_kind_unless_it_is_believed():
    kinds = {permission_from(said, believed=False) for said in EVERY}
    assert kinds == {"write", "network", "dangerous"}


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"readOnlyHint": True}, "read"),
        ({"readOnlyHint": True, "openWorldHint": True}, "read"),
        ({"readOnlyHint": True, "destructiveHint": True}, "dangerous"),
        ({"readOnlyHint": "true"}, "write"),
        ({"readOnlyHint": 1}, "write"),
        ({"readOnlyHint": False, "openWorldHint": True}, "network"),
        ({"destructiveHint": False}, "write"),
    ],
)
def test_what_is_believed_may_lower_it_to_read(said, kind: PermissionKind):
    assert permission_from(said, believed=True) == kind


@pytest.mark.parametrize("name", ["delete_file", "fileDelete", "purge-queue", "删除文件"])
def test_a_tool_whose_name_says_that_it_destroys_does_not_only_read(name: str):
    assert permission_from({"readOnlyHint": True}, believed=True, name=name) == "write"
    assert permission_from({"readOnlyHint": True}, believed=True, name="list_deleted") == "read"
    said = permission_from({"readOnlyHint": True}, believed=True, override="read", name=name)
    assert said == "read"


@pytest.mark.plan(47)
@pytest.mark.parametrize("override", get_args(PermissionKind))
def test_the_operator_has_the_first_word(override: PermissionKind):
    kinds = {permission_from(said, believed=False, override=override) for said in EVERY}
    assert kinds == {override}
