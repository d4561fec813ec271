from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.review import Change
from toolcrib.review.changes import changes, configuration_changes
from toolcrib.sources import Definition

OLD = Definition(
    {
        "name": "log",
        "description": "Show commits",
        "inputSchema": {"properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "icons": [{"src": "a"}, {"src": "b"}],
    },
    "Git",
    "Use it.",
    "h",
)


def changed(**fields):
    return changes(OLD, replace(OLD, tool={**OLD.tool, **fields}))


def test_nothing_differs_from_itself():
    assert changes(OLD, replace(OLD)) == ()


def test_a_field_is_told_old_against_new():
    assert changed(description="More") == (Change("tool.description", "Show commits", "More"),)


def test_a_field_deep_inside_is_told_by_its_path():
    schema = {"properties": {"n": {"type": "integer", "description": "!"}}, "required": []}
    assert changed(inputSchema=schema) == (
        Change("tool.inputSchema.properties.n.description", None, "!"),
        Change("tool.inputSchema.required", '["n"]', "[]"),
    )
    assert changed(icons=[{"src": "a"}]) == (Change("tool.icons[1].src", "b", None),)


def test_what_comes_with_the_tool_is_told_too():
    other = replace(OLD, title="", instructions="Obey.", config_hash="i")
    fields = {change.field: (change.old, change.new) for change in changes(OLD, other)}
    assert fields["server.title"] == ("Git", None)
    assert fields["server.instructions"] == ("Use it.", "Obey.")


def test_a_configuration_is_told_field_by_field_or_that_it_is_another():
    old = '{"args":["-y","pkg","/a"],"command":"npx","env":{"A":"***"}}'
    new = '{"args":["-y","pkg","/a","/b"],"command":"npx","env":{"A":"***","B":"${B}"}}'
    assert configuration_changes(old, new, another=False) == (
        Change("configuration.args", '["-y", "pkg", "/a"]', '["-y", "pkg", "/a", "/b"]'),
        Change("configuration.env.B", None, "${B}"),
    )
    assert configuration_changes(old, old, another=False) == ()
    for unknown in (None, old):
        (told,) = configuration_changes(unknown, old, another=True)
        assert told.field == "configuration"
        assert "have changed" in str(told.new)
    assert configuration_changes(None, new, another=False) == ()


def test_without_an_old_one_all_is_new():
    told = changes(None, OLD)
    assert {change.old for change in told} == {None}
    assert Change("tool.description", None, "Show commits") in told


def test_hidden_characters_are_spelt_out_in_values_and_names():
    (value,) = changed(description="Show\u200b commits")
    assert value.new == "Show⟨U+200B⟩ commits"
    (name,) = changed(**{"x\u202e": 1})
    assert name == Change('tool."x\\u202e"', None, "1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"x": 1}, {"x": "1"}),
        ({"x": 1}, {"x": True}),
        ({"x": {}}, {"x": []}),
        ({"x": "\u200b"}, {"x": "⟨U+200B⟩"}),
        ({"a": {"b": 1}}, {"a.b": 1}),
        ({"a": [{}]}, {"a[0]": {}}),
        ({"a": {"b": 1}, "a.b": 2}, {"a": {"b": 2}, "a.b": 2}),
        ({"server": {"title": "Git"}}, {"": 1}),
    ],
)
def test_nothing_that_differs_is_told_as_the_same(one, other):
    """No change may hide from the operator behind another."""
    old, new = replace(OLD, tool=one), replace(OLD, tool=other)
    told = changes(old, new)
    assert old.pin != new.pin
    assert told
    assert all(change.old != change.new for change in told)
    assert len({change.field for change in told}) == len(told)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), JSON), st.dictionaries(st.text(max_size=3), JSON))
def test_there_is_a_change_exactly_where_the_pins_differ(one, other):
    old, new = Definition(one), Definition(other)
    assert bool(changes(old, new)) == (old.pin != new.pin)
