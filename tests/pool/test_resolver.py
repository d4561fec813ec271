"""One noun for all names: full, short, ambiguous, unknown."""

import pytest

from toolcrib.errors import AmbiguousName, UnknownTool
from toolcrib.pool import NameResolver

THINGS = {"a/look": ("see", "look"), "b/look": ("show", "look"), "b/see": ("peek", "see")}


@pytest.fixture
def names() -> NameResolver[tuple[str, str]]:
    return NameResolver(THINGS, lambda thing: thing)


@pytest.mark.parametrize(
    ("name", "full"),
    [("a/look", "a/look"), ("show", "b/look"), ("see", "a/look"), ("peek", "b/see")],
)
def test_a_name_is_the_full_one_or_the_most_telling_short_one(names, name: str, full: str):
    assert names.resolve(name) == THINGS[full]


def test_a_short_name_of_several_fails_with_the_full_names_in_order(names):
    assert names.candidates("look") == [THINGS["a/look"], THINGS["b/look"]]
    with pytest.raises(AmbiguousName) as caught:
        names.resolve("look")
    assert str(caught.value) == "'look' fits several tools; use one of these names: a/look, b/look"


def test_a_name_that_nothing_has_fails_with_the_nearest_or_with_the_reason(names):
    assert names.candidates("a/lok") == []
    with pytest.raises(UnknownTool) as caught:
        names.resolve("a/lok")
    assert str(caught.value).startswith(
        "no tool 'a/lok' here; search for it first. Nearest: a/look"
    )
    with pytest.raises(UnknownTool, match=r"^no tool 'a/lok' here: a is off$"):
        names.resolve("a/lok", why=lambda name: f"{name[0]} is off")


@pytest.mark.parametrize("name", ["look", "a/lok"])
def test_what_may_not_be_named_is_in_no_message(names, name: str):
    with pytest.raises((AmbiguousName, UnknownTool)) as caught:
        names.resolve(name, may_name=lambda thing: thing[0] != "see")
    assert "a/look" not in str(caught.value)
    assert "b/look" in str(caught.value)


def test_the_message_is_about_the_thing_and_not_without_end():
    prompts = NameResolver({"ask": 1}, lambda _number: (), noun="prompt", where="here")
    with pytest.raises(UnknownTool) as caught:
        prompts.resolve("x" * 9_999)
    assert str(caught.value).startswith("no prompt 'xxx")
    assert str(caught.value).endswith("here. Nearest: none")
    assert len(str(caught.value)) < 300
