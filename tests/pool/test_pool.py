from dataclasses import replace

import pytest

from tests.workshop import READ_FILE, SEEN, WRITE_FILE, ListedSource, mcp
from toolcrib.errors import AmbiguousName, SourceError, UnknownTool
from toolcrib.model import SkillInfo, ToolInfo
from toolcrib.pool import TOOLS_UPDATED, Pool, ToolsUpdated
from toolcrib.pool.entries import pin
from toolcrib.sources import FunctionSource

ISSUES = (mcp("github", "create_issue"), mcp("github", "list_issues"))


@pytest.fixture
def pool() -> Pool:
    return Pool()


@pytest.fixture
def heard(pool: Pool) -> list[ToolsUpdated]:
    """All news that the pool publishes."""
    news: list[ToolsUpdated] = []
    pool.events.subscribe(TOOLS_UPDATED, news.append)
    return news


def test_a_new_pool_is_empty(pool: Pool):
    assert not pool.entries


def test_sources_are_merged_under_the_names_that_models_see(pool: Pool):
    skill = SkillInfo(name="pdf", description="", source="files")
    assert pool.add(ListedSource(READ_FILE), ListedSource(*ISSUES), ListedSource(skill)) == ()
    assert sorted(pool.entries) == [
        "mcp_github_create_issue",
        "mcp_github_list_issues",
        "read_file",
        "skill_pdf",
    ]


def test_an_entry_knows_both_names_and_its_pin(pool: Pool):
    pool.add(ListedSource(*ISSUES))
    entry = pool.entries["mcp_github_create_issue"]
    assert (entry.name, entry.bare) == ("mcp_github_create_issue", "create_issue")
    assert entry.capability.name == "mcp_github_create_issue"
    assert entry.capability.pin == pin(ISSUES[0])


def test_an_entry_has_the_state_of_its_source_and_what_to_do(pool: Pool):
    source = ListedSource(READ_FILE, replace(WRITE_FILE, enabled=False))
    source.states = {"read_file": "asleep", "write_file": "asleep"}
    pool.add(source)
    assert (pool.entries["read_file"].state, pool.entries["write_file"].state) == (
        "asleep",
        "disabled",
    )
    assert "starts on demand" in pool.entries["read_file"].remedy


def test_one_origin_in_two_sources_is_one_entry_that_of_the_first(pool: Pool):
    pool.add(ListedSource(READ_FILE), ListedSource(replace(READ_FILE, description="Another")))
    assert [entry.capability.description for entry in pool.entries.values()] == [
        READ_FILE.description
    ]


def test_adding_is_published_once_for_all_sources(pool: Pool, heard: list[ToolsUpdated]):
    pool.add(ListedSource(READ_FILE), ListedSource(*ISSUES))
    [news] = heard
    assert {entry.name for entry in news.added} == set(pool.entries)
    assert not news.changed
    assert not news.removed


def test_a_change_of_one_tool_is_one_changed_entry(pool: Pool, heard: list[ToolsUpdated]):
    source = ListedSource(*SEEN)
    pool.add(source)
    heard.clear()
    changed = replace(READ_FILE, description="Read any file")
    source.listed = [changed if each is READ_FILE else each for each in SEEN]
    news = pool.refresh(source)
    assert heard == [news]
    assert [entry.capability.description for entry in news.changed] == ["Read any file"]
    assert (news.added, news.removed) == ((), ())


def test_a_change_of_state_alone_is_a_change(pool: Pool):
    source = ListedSource(*SEEN)
    pool.add(source)
    source.states["read_file"] = "needs_login"
    news = pool.refresh(source)
    assert [(entry.name, entry.state) for entry in news.changed] == [("read_file", "needs_login")]
    assert (news.added, news.removed) == ((), ())


def test_one_tool_more_is_one_added_entry(pool: Pool):
    source = ListedSource(READ_FILE)
    pool.add(source, ListedSource(*ISSUES))
    source.listed = (READ_FILE, WRITE_FILE)
    news = pool.refresh(source)
    assert [entry.name for entry in news.added] == ["write_file"]
    assert (news.changed, news.removed) == ((), ())


def test_one_tool_less_is_one_removed_entry(pool: Pool):
    source = ListedSource(READ_FILE, WRITE_FILE)
    pool.add(source, ListedSource(*ISSUES))
    source.listed = (WRITE_FILE,)
    news = pool.refresh(source)
    assert [entry.name for entry in news.removed] == ["read_file"]
    assert (news.added, news.changed) == ((), ())


def test_a_refresh_that_changes_nothing_is_not_published(pool: Pool, heard: list[ToolsUpdated]):
    source = ListedSource(*SEEN)
    pool.add(source)
    heard.clear()
    assert not pool.refresh(source)
    assert not heard


def test_whoever_holds_the_entries_sees_one_moment(pool: Pool):
    source = ListedSource(READ_FILE)
    pool.add(source)
    before = pool.entries
    source.listed = (WRITE_FILE,)
    pool.refresh(source)
    assert list(before) == ["read_file"]
    assert list(pool.entries) == ["write_file"]


def test_the_entries_are_in_place_when_their_news_are_heard(pool: Pool):
    seen: list[list[str]] = []
    pool.events.subscribe(TOOLS_UPDATED, lambda _news: seen.append(list(pool.entries)))
    pool.add(ListedSource(READ_FILE))
    assert seen == [["read_file"]]


def test_a_source_that_fails_is_a_problem_and_costs_no_other(pool: Pool):
    broken = ListedSource(WRITE_FILE)
    broken.failure = "cannot be listed"
    problems = pool.add(ListedSource(READ_FILE), broken, ListedSource(*ISSUES))
    assert problems == ("cannot be listed",)
    assert sorted(pool.entries) == [
        "mcp_github_create_issue",
        "mcp_github_list_issues",
        "read_file",
    ]


def test_what_a_source_could_not_read_is_a_problem_and_the_rest_is_there(pool: Pool):
    source = ListedSource(READ_FILE, problems=("x.md: no name",))
    assert pool.add(source) == ()
    assert pool.problems == ("x.md: no name",)
    source.problems = ()
    assert pool.problems == ()
    assert list(pool.entries) == ["read_file"]


def test_a_refresh_that_fails_raises_and_leaves_what_was_there(
    pool: Pool, heard: list[ToolsUpdated]
):
    source = ListedSource(READ_FILE)
    pool.add(source)
    heard.clear()
    source.failure = "gone away"
    with pytest.raises(SourceError, match="gone away"):
        pool.refresh(source)
    assert list(pool.entries) == ["read_file"]
    assert not heard
    pool.add(ListedSource(WRITE_FILE))
    assert sorted(pool.entries) == ["read_file", "write_file"]


def test_a_tool_that_vanished_since_its_source_was_listed_costs_no_other_source(pool: Pool):
    source = FunctionSource()
    source.add(lambda: None, name="here_and_gone")
    pool.add(source)
    source.remove("here_and_gone")
    pool.add(ListedSource(READ_FILE))
    assert "read_file" in pool.entries
    pool.refresh(source)
    assert list(pool.entries) == ["read_file"]


def test_a_source_leaves_with_all_that_came_from_it(pool: Pool):
    source = ListedSource(*ISSUES)
    pool.add(ListedSource(READ_FILE), source)
    news = pool.remove(source)
    assert {entry.name for entry in news.removed} == {
        "mcp_github_create_issue",
        "mcp_github_list_issues",
    }
    assert list(pool.entries) == ["read_file"]
    assert not pool.remove(source)


def test_a_name_is_plain_again_when_its_rival_has_left(pool: Pool):
    ours = ListedSource(replace(READ_FILE, source_id="ours"))
    rival = ListedSource(replace(READ_FILE, source_id="rival"))
    pool.add(ours)
    pool.add(rival)
    assert "read_file" not in pool.entries
    pool.remove(rival)
    assert list(pool.entries) == ["read_file"]


def test_a_name_resolves_to_its_entry(pool: Pool):
    pool.add(ListedSource(READ_FILE, *ISSUES))
    assert pool.resolve("read_file").name == "read_file"
    assert pool.resolve("mcp_github_list_issues").bare == "list_issues"


def test_a_bare_name_resolves_when_only_one_has_it(pool: Pool):
    pool.add(ListedSource(*ISSUES))
    assert pool.resolve("list_issues").name == "mcp_github_list_issues"


def test_a_bare_name_that_several_have_fails_with_all_of_them_in_order(pool: Pool):
    pool.add(ListedSource(mcp("jira", "create_issue"), *ISSUES))
    with pytest.raises(AmbiguousName) as caught:
        pool.resolve("create_issue")
    assert str(caught.value) == (
        "'create_issue' fits several tools; use one of these names: "
        "mcp_github_create_issue, mcp_jira_create_issue"
    )


def test_a_name_as_other_hosts_write_it_resolves_to_the_tool_of_that_server(pool: Pool):
    pool.add(ListedSource(mcp("git-hub", "list_issues"), mcp("a", "b__c"), *ISSUES))
    assert pool.resolve("mcp__git-hub__list_issues").capability.source_id == "git-hub"
    assert pool.resolve("mcp__github__list_issues").capability.source_id == "github"
    assert pool.resolve("mcp__a__b__c").bare == "b__c"
    for wrong in ("mcp__git_hub__list_issues", "mcp__github", "mcp__github__", "mcp__list_issues"):
        with pytest.raises(UnknownTool):
            pool.resolve(wrong)


def test_a_name_with_its_source_resolves_to_the_tool_of_that_source(pool: Pool):
    solo = mcp("solo", "turn"), mcp("solo", "a/b")
    pool.add(ListedSource(mcp("git-hub", "list_issues"), *solo, *ISSUES))
    for name in ("git-hub/list_issues", "mcp:git-hub/list_issues"):
        assert pool.resolve(name).capability.source_id == "git-hub"
    assert pool.resolve("solo/a/b").bare == "a/b"
    for wrong in ("*/turn", "sol?/turn", "solo/t*", "github/turn", "solo/", "/turn", "sdk:solo/a"):
        with pytest.raises(UnknownTool):
            pool.resolve(wrong)


def test_a_name_that_two_servers_and_tools_make_up_fails_with_both(pool: Pool):
    pool.add(ListedSource(mcp("a", "b__c"), mcp("a__b", "c")))
    with pytest.raises(AmbiguousName, match="mcp_a_b__c, mcp_a__b_c"):
        pool.resolve("mcp__a__b__c")


def test_a_full_name_wins_over_another_s_bare_one(pool: Pool):
    pool.add(ListedSource(mcp("disk", "read_file"), READ_FILE))
    assert pool.resolve("read_file").capability.source == "builtin"


def test_an_unknown_name_fails_with_the_nearest(pool: Pool):
    pool.add(ListedSource(*SEEN))
    with pytest.raises(UnknownTool, match=r"no tool 'raed_file' here; .* Nearest: read_file"):
        pool.resolve("raed_file")


def test_an_unknown_name_with_nothing_alike_says_so(pool: Pool):
    with pytest.raises(UnknownTool, match="Nearest: none"):
        pool.resolve("read_file")


def test_a_bare_name_is_forgotten_with_its_entry(pool: Pool):
    source = ListedSource(*ISSUES)
    pool.add(source)
    pool.remove(source)
    with pytest.raises(UnknownTool):
        pool.resolve("list_issues")


def test_names_that_no_provider_takes_are_found_by_their_own_name(pool: Pool):
    pool.add(ListedSource(ToolInfo(name="读取文件", description="")))
    [name] = pool.entries
    assert name.isascii()
    assert pool.resolve("读取文件").name == name


def test_the_pool_knows_where_an_entry_is_from(pool: Pool):
    files, issues = ListedSource(READ_FILE), ListedSource(*ISSUES)
    pool.add(files, issues)
    assert pool.source_of("read_file") is files
    assert pool.source_of("mcp_github_list_issues") is issues
    pool.remove(issues)
    for gone in ("mcp_github_list_issues", "list_issues"):
        with pytest.raises(UnknownTool, match="search"):
            pool.source_of(gone)


def test_all_that_a_name_may_mean_are_its_candidates(pool: Pool):
    pool.add(ListedSource(mcp("jira", "create_issue"), *ISSUES))
    assert [entry.name for entry in pool.candidates("create_issue")] == [
        "mcp_github_create_issue",
        "mcp_jira_create_issue",
    ]
    assert [entry.name for entry in pool.candidates("mcp_jira_create_issue")] == [
        "mcp_jira_create_issue"
    ]
    assert not pool.candidates("nothing")


def test_a_pin_that_the_source_made_is_kept(pool: Pool):
    pool.add(ListedSource(replace(READ_FILE, pin="of the source")))
    assert pool.entries["read_file"].capability.pin == "of the source"


@pytest.mark.parametrize(
    "ours", [{"permission_kind": "dangerous"}, {"search_hint": "open"}, {"pin": "another"}]
)
def test_a_change_of_ours_updates_the_entry_under_a_pin_of_the_source(
    pool: Pool, ours: dict[str, str]
):
    source = ListedSource(replace(READ_FILE, pin="of the source"))
    pool.add(source)
    before = pool.fingerprint
    source.listed = (replace(source.listed[0], **ours),)
    (entry,) = pool.refresh(source).changed
    assert all(getattr(entry.capability, field) == value for field, value in ours.items())
    assert (pool.fingerprint != before) == ("pin" not in ours)


@pytest.mark.plan(39)
def test_no_load_order_decides_between_servers_with_the_same_names():
    names = [f"read_{n}" for n in range(1000)]
    alike = [name.replace("e", "е", 1) for name in names]
    one = [mcp("one", name, "of one") for name in names]
    two = [mcp("two", name, "of two") for name in (*names, *alike)]
    pools = [Pool(), Pool()]
    pools[0].add(ListedSource(*one), ListedSource(*two))
    pools[1].add(ListedSource(*two), ListedSource(*one))
    assert pools[0].entries == pools[1].entries
    assert pools[0].fingerprint == pools[1].fingerprint
    assert len(pools[0].entries) == 3000
    for pool in pools:
        for name in names[::50]:
            with pytest.raises(AmbiguousName, match=f"mcp_one_{name}, mcp_two_{name}$"):
                pool.resolve(name)
            assert pool.resolve(f"mcp_one_{name}").capability.description == "of one"
        for name in alike[::50]:
            assert pool.resolve(name).capability.source_id == "two"
