import re
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.workshop import mcp
from toolcrib.model import AgentInfo, Capability, SkillInfo, ToolInfo
from toolcrib.names import Origin, name_all
from toolcrib.names.origin import legal

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")

# Few characters and parts, so that different origins often want the same name.
PARTS = st.text("aB_-é读 \n", max_size=4) | st.text(max_size=90)
ORIGINS = st.builds(Origin, st.sampled_from(["", "mcp", "sdk", "skill", "agent"]), PARTS, PARTS)


HASHED = legal("mcp_my_server_a.b")[-8:]


@pytest.mark.parametrize(
    ("capability", "name"),
    [
        (ToolInfo(name="read_file", description=""), "read_file"),
        (ToolInfo(name="read_file", description="", source_id="plugin"), "read_file"),
        (mcp("github", "create-issue"), "mcp_github_create-issue"),
        (mcp("my.server", "create"), "mcp_my_server_create"),
        (mcp("my.server", "a.b"), "mcp_my_server_a_b_" + HASHED),
        (ToolInfo(name="crop", description="", source="sdk", source_id="paint"), "sdk_paint_crop"),
        (SkillInfo(name="pdf", description="", source="files"), "skill_pdf"),
        (AgentInfo(name="planner", description="", source="files"), "agent_planner"),
    ],
)
def test_a_name_says_where_the_capability_is_from(capability: Capability, name: str):
    assert Origin.of(capability).plain_name() == name


@pytest.mark.parametrize("name", ["a", "read_file", "Read-File_2", "x" * 64])
def test_a_legal_name_stays_as_it_is(name: str):
    assert legal(name) == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.b", "a_b_" + "2e7336dc"),
        ("x" * 65, "x" * 55 + "_" + "9537c5fd"),
        ("", "_" + "e3b0c442"),
    ],
)
def test_what_had_to_change_ends_in_a_hash_of_what_it_was(name: str, expected: str):
    assert legal(name) == expected


def test_names_that_differ_in_illegal_characters_alone_stay_apart():
    assert len({legal(name) for name in ("a.b", "a b", "a/b", "a_b", "a:b")}) == 5


def test_long_names_that_differ_at_the_end_stay_apart():
    assert legal("x" * 80 + "1") != legal("x" * 80 + "2")


@given(st.text(max_size=200))
@example("\ud800")
@example("\0")
@example("读取文件")
def test_every_name_is_legal_for_every_provider(name: str):
    assert LEGAL.fullmatch(legal(name))


@given(st.text(max_size=200))
def test_making_a_name_legal_twice_changes_nothing_more(name: str):
    assert legal(legal(name)) == legal(name)


@given(st.lists(ORIGINS, max_size=12))
def test_different_origins_get_different_legal_names(origins: list[Origin]):
    names = name_all(origins)
    assert names.keys() == set(origins)
    assert len(set(names.values())) == len(names)
    assert all(LEGAL.fullmatch(name) for name in names.values())


@given(st.lists(ORIGINS, max_size=12), st.randoms())
def test_the_order_of_loading_decides_nothing(origins: list[Origin], chance: Random):
    shuffled = chance.sample(origins, len(origins))
    assert name_all(shuffled) == name_all(origins)


def test_two_sources_that_are_written_alike_have_a_hash_and_others_have_none():
    alike = [Origin("mcp", "a.b", "go"), Origin("mcp", "a b", "go"), Origin("mcp", "a b", "stay")]
    dot, space, alone = name_all(alike).values()
    assert dot != space
    assert (dot[:-8], space[:-8], alone) == ("mcp_a_b_go_", "mcp_a_b_go_", "mcp_a_b_stay")


def test_the_name_that_a_tool_had_before_is_a_pattern_for_it_still():
    origin = Origin("mcp", "my.server", "create")
    assert legal("mcp_my.server_create") in origin.spellings().given


def test_where_several_want_one_name_none_gets_it_plain():
    rivals = [Origin("mcp", "a_b", "c"), Origin("mcp", "a", "b_c")]
    names = name_all(rivals)
    assert "mcp_a_b_c" not in names.values()
    assert all(name.startswith("mcp_a_b_c_") for name in names.values())


def test_a_name_in_dispute_is_the_same_whoever_disputes_it():
    ours, other, third = (Origin("", source, "search") for source in ("x", "y", "z"))
    assert name_all([ours, other])[ours] == name_all([third, ours])[ours]


def test_a_name_that_nobody_disputes_does_not_depend_on_the_others():
    ours = Origin("mcp", "github", "create_issue")
    others = [Origin("mcp", "jira", "create_issue"), Origin("", "", "create_issue")]
    assert name_all([ours, *others])[ours] == name_all([ours])[ours] == ours.plain_name()


def test_nobody_takes_the_name_that_another_got_in_a_dispute():
    """A server may know how names are hashed, and call a tool what another one is going to be."""
    ours, rival = Origin("mcp", "a_b", "c"), Origin("mcp", "a", "b_c")
    thief = Origin("mcp", "a", ours.hashed_name().removeprefix("mcp_a_"))
    assert thief.plain_name() == ours.hashed_name()
    names = name_all([ours, rival, thief])
    assert len(set(names.values())) == 3


def test_one_origin_twice_is_one_name():
    ours = Origin("", "", "read_file")
    assert name_all([ours, ours]) == {ours: "read_file"}


def test_names_outlast_releases():
    """Names are in transcripts and in approvals: a new way to shorten them would orphan these."""
    assert legal("读取文件") == "_____" + "407dd16f"
    assert Origin("mcp", "a", "b_c").hashed_name() == "mcp_a_b_c_" + "24302f6d"
