from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workshop import (
    HIDDEN_NAMES,
    READ_FILE,
    SEEN,
    OneNear,
    many,
    mcp,
    pooled,
    search_rules,
    searching,
)
from toolcrib.model import EXCLUDE_NOTHING, Answer, EntryGroups, NameFilter, Query, ToolInfo
from toolcrib.search import Search, answer_query
from toolcrib.search.answer import (
    MOST_NAMESPACES,
    MOST_NEAREST,
    ONE_LINE,
    namespaces,
    visible_sizes,
)
from toolcrib.search.confidence import LOW
from toolcrib.search.query_syntax import LONGEST_QUERY


@pytest.fixture(scope="module")
def crowd() -> Iterator[Search]:
    """A search among ten thousand, a fifth of which have one bare name."""
    twisting = [mcp(f"twister{number}", "twist") for number in range(2000)]
    with searching("memory", pooled(*many(8000), *twisting)) as search:
        yield search


def ask(search: Search, text: str, limit: int | None = None) -> Answer:
    return answer_query(Query(text, limit), search)


def names(found: Answer) -> list[str]:
    return [hit.name for hit in found]


@pytest.mark.parametrize(
    "text", ["write_file", '"write_file"', "`write_file`", "write file", "Write File", "writeFile"]
)
def test_a_tool_is_first_for_its_name_in_any_spelling(search: Search, text: str):
    assert names(ask(search, text))[0] == "write_file"


def test_two_that_differ_in_whom_they_write_to_are_told_apart(search: Search):
    user, channel = "mcp_notify_notification-send-user", "mcp_notify_notification-send-channel"
    to_user = names(ask(search, "send a message to a user", 8))
    to_channel = names(ask(search, "post to a channel", 8))
    assert to_user.index(user) < to_user.index(channel)
    assert to_channel[0] == channel
    assert user not in to_channel


@pytest.mark.parametrize("name", ["notification-send-user", "notification-send-channel"])
def test_and_each_is_the_one_answer_to_its_name(search: Search, name: str):
    assert names(ask(search, name)) == [f"mcp_notify_{name}"]


@pytest.mark.parametrize("text", ["能不能帮我读文件", "读取文件", "读取磁盘"])
def test_a_question_in_chinese_finds_and_shows_chinese(search: Search, text: str):
    best = ask(search, text)[0]
    assert (best.name, best.description) == ("read_file", "读取磁盘上的文本文件")


def test_a_question_in_english_shows_english(search: Search):
    assert ask(search, "read a text file")[0].description == READ_FILE.description


def test_a_question_in_chinese_shows_what_there_is_where_there_is_no_chinese(search: Search):
    [hit] = ask(search, "select:current_time,时")
    assert hit.description == "Tell the time in a time zone"


def test_only_the_beginning_of_a_long_question_decides_on_the_language(search: Search):
    long = "读取文件 " * LONGEST_QUERY + "read a file " * 4 * LONGEST_QUERY
    assert ask(search, long)[0].description == "读取磁盘上的文本文件"


def test_a_task_of_two_parts_finds_tools_for_both(search: Search):
    assert names(ask(search, "search the web and save a file"))[:2] == ["search_web", "write_file"]


def test_the_chance_of_a_task_is_the_mean_of_the_whole_and_its_parts(search: Search):
    text, parts = "write file and get a photo of a zebra", ("write file", "get photo zebra")
    whole = search.trace("write file get photo zebra", depth=search.depth)
    chances = [whole.chance, *(ask(search, part).chance for part in parts)]
    assert min(chances) < ask(search, text).chance < max(chances)
    assert ask(search, text).chance == pytest.approx(fmean(chances))


def test_a_part_that_nothing_fits_takes_nothing_from_the_chance_of_a_task(search: Search):
    trace = search.trace("write file and delete zzzqqq", depth=search.depth)
    [sure, nothing] = trace.parts
    assert (sure.chance, nothing.fits) == (1.0, False)
    assert trace.chance > 2 / 3, "the most that a mean of three has with a nought in it"


def test_a_part_that_nothing_fits_is_said_beside_the_others(search: Search):
    found = ask(search, "write a file and delete zzzqqq")
    assert names(found)[0] == "write_file"
    assert found.note == "Nothing fits 'delete zzzqqq'."
    assert ask(search, "write a file and read a file").note == ""


def test_a_part_for_which_there_is_no_room_is_said(search: Search):
    task = "write a file and list issues and send a message"
    assert ask(search, task).note == ""
    cramped = ask(search, task, 2)
    assert cramped.note.startswith("No room was left for ")
    assert cramped.note.endswith(": ask for each by itself.")


def test_of_more_parts_than_are_looked_for_the_rest_is_said(search: Search):
    task = "write a file; list issues; send a message; search the web; get the current time"
    assert "'get the current time'" in ask(search, task, 8).note


def test_a_name_within_a_task_does_not_stand_for_all_of_it(search: Search):
    task = "call write_file and list the issues"
    assert len(search.trace(task, depth=30).parts) == 2
    assert {"write_file", "mcp_github_list_issues"} <= set(names(ask(search, task)))


def test_a_name_of_two_verbs_is_no_task(search: Search):
    both = ToolInfo(name="search_and_replace", description="Change a text everywhere")
    with searching("memory", pooled(both, *SEEN)) as other:
        assert ask(other, "search and replace").chance == 1.0
        assert names(ask(other, "search and replace"))[0] == "search_and_replace"


def test_a_hit_says_all_that_a_model_needs_to_choose(search: Search):
    hit = ask(search, "read_file")[0]
    assert (hit.kind, hit.source, hit.source_id, hit.state) == ("tool", "builtin", None, "ready")
    assert (hit.permission_kind, hit.remedy, hit.schema) == ("read", "", READ_FILE.parameters)
    assert hit.score > 0


def test_skills_and_agents_are_found_and_have_no_schema(search: Search):
    skill, agent = ask(search, "fill in pdf forms")[0], ask(search, "plan a train journey")[0]
    assert (skill.name, skill.kind, skill.schema) == ("skill_pdf-forms", "skill", None)
    assert (agent.name, agent.kind, agent.schema) == ("agent_travel-planner", "agent", None)


def test_only_the_best_few_carry_their_schema(search: Search):
    few = replace(search, rules=search_rules(schemas=2, cut="none"))
    assert [hit.schema is not None for hit in ask(few, "file message", 5)] == [True] * 2 + [
        False
    ] * 3
    assert all(
        hit.schema is None for hit in ask(replace(search, rules=search_rules(schemas=0)), "file")
    )


@pytest.mark.parametrize(("limit", "expected"), [(None, 5), (3, 3), (8, 8), (100, 8), (0, 0)])
def test_an_answer_has_the_limit_and_never_more_than_the_most(
    search: Search, limit: int | None, expected: int
):
    assert (
        len(ask(replace(search, rules=search_rules(cut="none")), "a file message list", limit))
        == expected
    )


def test_a_long_description_is_one_line_with_its_end_marked():
    long = ToolInfo(name="talk", description="Talk\n  and " + "talk " * 100)
    with searching("memory", pooled(long)) as search:
        line = ask(search, "talk")[0].description
    assert line.startswith("Talk and talk")
    assert line.endswith("…")
    assert len(line) <= ONE_LINE


# --- select:


def test_selected_tools_come_in_the_order_asked_for(search: Search):
    found = ask(search, "select:write_file,read_file")
    assert names(found) == ["write_file", "read_file"]
    assert not found.missing
    assert not found.note


def test_a_name_that_is_missing_is_told_with_its_nearest_and_the_others_come(search: Search):
    found = ask(search, "select:write_file,raed_file")
    assert names(found) == ["write_file"]
    assert found.missing["raed_file"][0] == "read_file"


@pytest.mark.parametrize("name", ["list_channels", "mcp_slack_list_channels", "List Channels"])
def test_a_tool_is_selected_by_full_name_bare_name_or_spelling(search: Search, name: str):
    assert names(ask(search, f"select:{name}")) == ["mcp_slack_list_channels"]


def test_a_bare_name_that_several_have_selects_none_and_tells_which(search: Search):
    found = ask(search, "select:create_issue")
    assert not found
    assert found.missing == {
        "create_issue": ("mcp_github_create_issue", "mcp_jira_create_issue"),
    }


def test_two_spellings_of_one_tool_select_it_once(search: Search):
    assert names(ask(search, "select:write_file,writeFile")) == ["write_file"]


def test_more_than_an_answer_holds_is_said(search: Search):
    every = [name for name in search.entries if search.sees(name)]
    found = ask(search, "select:" + ",".join(every))
    assert names(found) == every[: search.rules.most]
    assert found.note.startswith(f"{len(every) - search.rules.most} more were selected")


def test_what_is_hidden_cannot_be_selected_nor_is_it_near(search: Search):
    found = ask(search, "select:erase_file,shred_file,tag_file")
    assert not found
    assert found.missing.keys() == HIDDEN_NAMES
    assert not {near for some in found.missing.values() for near in some} & HIDDEN_NAMES


# --- +required


def test_a_required_word_has_to_be_in_the_name(search: Search):
    assert names(ask(search, "+slack send"))[0] == "mcp_slack_send_message"
    assert all("slack" in name for name in names(ask(search, "+slack send message list", 8)))


def test_with_nothing_else_all_that_have_the_word_come_by_name(search: Search):
    assert names(ask(search, "+issue")) == [
        "mcp_github_create_issue",
        "mcp_github_list_issues",
        "mcp_jira_create_issue",
    ]


def test_with_a_rest_that_nothing_fits_all_that_have_the_word_come_and_that_is_said(
    search: Search,
):
    found = ask(search, "+slack zzzqqq")
    assert names(found) == ["mcp_slack_list_channels", "mcp_slack_send_message"]
    assert found.note == "No tool with that name is about 'zzzqqq': they come by name."
    assert (found.confidence, found.chance) == ("low", LOW)
    assert {hit.score for hit in found} == {LOW}


def test_then_a_verb_of_the_same_family_is_what_there_is_to_go_by(search: Search):
    posting = mcp("slack", "post_note", "To a channel"), mcp("slack", "add_reaction", "An emoji")
    with searching("memory", pooled(*posting, mcp("slack", "get_user", "A profile"))) as slack:
        found = ask(slack, "+slack send")
    assert names(found)[0] == "mcp_slack_post_note"
    assert found.note.endswith("those with a verb like it come first.")
    assert found.confidence == "low"


def test_within_a_named_set_nothing_is_withheld(search: Search):
    """The vector arm is far from everything: a free text is not answered, a named set is."""
    far = replace(
        search,
        view=OneNear(search.view, "mcp_slack_list_channels", lambda _: 0.1),
        calibrated_cosines=True,
    )
    assert not ask(far, "zzzqqq")
    found = ask(far, "+slack zzzqqq")
    assert names(found)[0] == "mcp_slack_list_channels"
    assert (found.confidence, found[0].score) == ("low", LOW)


def test_a_required_word_alone_that_more_have_than_fit_in_says_so(search: Search):
    found = ask(search, "+issue", 2)
    assert found.note == "1 more have 'issue' in their name: say what you need of them."


def test_when_no_name_has_it_that_is_said_with_the_nearest(search: Search):
    found = ask(search, "+slak send")
    assert not found
    assert found.note == "No name has 'slak' in it."
    assert found.missing["slak"]
    assert found.namespaces["mcp:slack"] == 2


def test_several_required_words_are_all_required(search: Search):
    assert names(ask(search, "+slack +list")) == ["mcp_slack_list_channels"]
    assert not ask(search, "+slack +issue")


def test_what_is_hidden_is_not_found_by_a_word_of_its_name(search: Search):
    assert not ask(search, "+erase file")


# --- /pattern/


def test_a_pattern_finds_names_first_and_then_descriptions(search: Search):
    found = ask(search, "/list|journeys/")
    assert names(found)[:3] == [
        "list_directory",
        "mcp_github_list_issues",
        "mcp_slack_list_channels",
    ]
    assert names(found)[3:] == ["agent_travel-planner"]


def test_a_pattern_has_no_case_and_no_hidden_tools(search: Search):
    assert names(ask(search, "/^CURRENT_/")) == ["current_time"]
    assert "erase_file" not in names(ask(search, "/_file$/", 8))


@pytest.mark.parametrize("pattern", ["(", "a{9999999}", "(?=x)", r"(a)\1", "x" * 201])
def test_a_bad_pattern_is_explained(search: Search, pattern: str):
    found = ask(search, f"/{pattern}/")
    assert not found
    assert found.note.startswith("The pattern cannot be used: ")


# --- nothing


@pytest.mark.parametrize(
    "text", ["/(/", "/zzzqqq/", "", "select:zzzqqq", "+zzzqqq send", "zzzqqq", "currenttimes"]
)
def test_an_answer_without_hits_is_sure_of_nothing(search: Search, text: str):
    found = ask(search, text)
    assert (len(found), found.confidence) == (0, "none")
    assert found.chance < LOW


@pytest.mark.parametrize("text", ["read_file", "select:read_file", "+slack", "/file/"])
def test_nor_is_one_that_may_have_none(search: Search, text: str):
    found = ask(search, text, 0)
    assert text.startswith("select:") or (len(found), found.confidence) == (0, "none")


@pytest.mark.parametrize("text", ["", "   ", "select:"])
def test_an_empty_query_browses_and_reveals_nothing(search: Search, text: str):
    found = ask(search, text)
    assert not found
    assert "nothing is revealed" in found.note
    assert found.namespaces == {
        "builtin": 7,
        "mcp:github": 2,
        "mcp:notify": 2,
        "mcp:slack": 2,
        "agents": 1,
        "mcp:jira": 1,
        "sdk:photos": 1,
        "skills": 1,
    }


def test_where_nothing_fits_what_there_is_is_told(search: Search):
    found = ask(search, "currenttimes")
    assert sum(found.namespaces.values()) == len(SEEN)
    assert found.note.startswith("Nothing fits.")


def test_a_pattern_sees_the_name_that_a_tool_has_at_its_server(search: Search):
    found = names(ask(search, "/^list_/"))
    assert set(found) == {"list_directory", "mcp_github_list_issues", "mcp_slack_list_channels"}
    assert names(ask(search, "/^mcp_slack_list_/")) == ["mcp_slack_list_channels"]


def test_namespaces_are_the_largest_first_and_the_rest_summed_up():
    entries = pooled(*many(400), *SEEN)
    groups = EntryGroups.of(entries)
    counted = namespaces(groups, visible_sizes(groups, EXCLUDE_NOTHING))
    assert len(counted) == MOST_NAMESPACES + 1
    assert list(counted.values())[:-1] == sorted(list(counted.values())[:-1], reverse=True)
    assert list(counted)[-1] == "others"
    assert sum(counted.values()) == len(entries)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "zzzqqq",
        "turnip gears",
        "+turnip",
        "+turn",
        "/turn/",
        "/zzz/",
        "select:turn_gear",
        "select:twist",
        "gear",
        " ".join(f"+turnip{word}" for word in "abcdefghijklmnopqrstuvwxyz"),
    ],
)
def test_whatever_is_asked_of_many_the_answer_is_small(crowd: Search, text: str):
    found = ask(crowd, text)
    assert len(found) <= crowd.rules.most
    assert len(found.namespaces) <= MOST_NAMESPACES + 1
    assert sum(map(len, found.missing.values())) <= MOST_NEAREST * MOST_NEAREST


@given(st.text(max_size=40) | st.text("select:+/ write_file,`", max_size=40))
def test_no_query_reveals_what_is_hidden(search: Search, text: str):
    found = ask(search, text, 8)
    told = {
        *names(found),
        *(near for some in found.missing.values() for near in some),
        *(name for some in found.names.values() for name in some),
    }
    assert not told & HIDDEN_NAMES
    assert found.query == text


def test_what_is_misspelt_is_corrected_for_every_arm_and_said(search: Search):
    found = ask(search, "sned a mesage")
    assert found[0].name == ask(search, "send a message")[0].name
    assert found.note.startswith("Corrected: sned → send, mesage → message.")


def test_a_correction_tells_nothing_of_what_is_hidden():
    entries = pooled(ToolInfo(name="find_qwexer", description="Find a qwexer"), READ_FILE)
    with searching("memory", entries) as every:
        assert "qwexxer → qwexer" in ask(every, "find qwexxer").note
        few = replace(every, hidden=NameFilter.without(["find_qwexer"]))
        assert "Corrected" not in ask(few, "find qwexxer").note
