import pytest

from toolcrib.errors import DeclarationError
from toolcrib.sources.apps.definition import tool_from_json, tool_to_json

RAW = {
    "name": "add_event",
    "title": "Add",
    "description": "Add an event",
    "inputSchema": {"type": "object", "properties": {}},
    "outputSchema": {"type": "string"},
    "annotations": {"readOnlyHint": True},
    "permission_kind": "network",
    "search_hint": "diary",
}


def test_all_that_is_said_is_kept():
    tool = tool_from_json(RAW, "calendar", trusted=False)
    assert (tool.source, tool.source_id, tool.permission_kind) == ("sdk", "calendar", "network")
    assert tool_to_json(tool) == RAW


@pytest.mark.parametrize(
    ("said", "trusted", "kind"),
    [
        ({}, False, "write"),
        ({"permission_kind": "read"}, False, "write"),
        ({"permission_kind": "read"}, True, "read"),
        ({"annotations": {"readOnlyHint": True}}, False, "write"),
        ({"annotations": {"readOnlyHint": True}}, True, "read"),
        ({"permission_kind": "dangerous"}, False, "dangerous"),
        ({"permission_kind": "execute"}, True, "execute"),
        ({"permission_kind": "read", "annotations": {"destructiveHint": True}}, True, "dangerous"),
        ({"permission_kind": "write", "annotations": {"openWorldHint": True}}, False, "network"),
    ],
)
def test_an_app_may_raise_the_permission_kind_and_lower_it_only_if_trusted(said, trusted, kind):
    assert tool_from_json({"name": "x", **said}, "a", trusted=trusted).permission_kind == kind


def test_a_trusted_app_does_not_make_deleting_into_reading():
    said = {"name": "delete_x", "annotations": {"readOnlyHint": True}}
    assert tool_from_json(said, "a", trusted=True).permission_kind == "write"


@pytest.mark.parametrize(
    "said",
    [
        {"name": ""},
        {"name": 1},
        {"name": "a b"},
        {"name": "x" * 129},
        {"description": 1},
        {"description": "x" * 20_000},
        {"title": "\ud800"},
        {"inputSchema": []},
        {"inputSchema": {"type": "array"}},
        {"inputSchema": {"type": "object", "description": "x" * 300_000}},
        {"outputSchema": "x"},
        {"annotations": []},
        {"permission_kind": "none"},
        {"permission_kind": ["read"]},
        {"_meta": {}},
    ],
)
def test_what_is_no_tool_is_refused(said):
    with pytest.raises(DeclarationError):
        tool_from_json({"name": "x", **said}, "a", trusted=True)
