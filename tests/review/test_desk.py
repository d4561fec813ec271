"""Which of the definitions at the desk a name means."""

import pytest

from toolcrib.errors import AmbiguousName, UnknownTool
from toolcrib.review import ReviewItem, find_item


def item(server: str, tool: str, overlaps: tuple[str, ...] = ()) -> ReviewItem:
    name = f"mcp_{server}_{tool}"
    return ReviewItem(name, server, tool, "changed", "pin", (), (), overlaps)


@pytest.mark.parametrize("name", ["git/push", "mcp_git_push", "push"])
def test_a_name_is_spelt_out_or_as_models_see_it_or_the_servers_own(name: str):
    assert find_item(name, [item("git", "push"), item("git", "pull")]).tool == "push"


def test_what_two_servers_have_has_to_be_spelt_out():
    items = [item("git", "push"), item("hub", "push")]
    assert find_item("hub/push", items).server == "hub"
    with pytest.raises(AmbiguousName, match="git/push, hub/push"):
        find_item("push", items)


def test_a_name_that_could_be_another_servers_is_nobodys():
    items = [item("git", "hub_push", ("mcp_git_hub_",))]
    assert find_item("git/hub_push", items) == items[0]
    with pytest.raises(AmbiguousName, match="git/hub_push"):
        find_item("mcp_git_hub_push", items)


def test_two_that_are_spelt_alike_are_never_taken_for_each_other():
    items = [item("a/b", "c"), item("a", "b/c")]
    with pytest.raises(AmbiguousName, match="rename"):
        find_item("a/b/c", items)


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(UnknownTool, match=r"'pusch' waits for review\. Nearest: git/push"):
        find_item("pusch", [item("git", "push")])
