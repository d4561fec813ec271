"""Filters of whole groups say what the verdicts on single entries say, and go on when they change.

The sources and patterns are those that are easily mixed up: ids that begin alike, ids with signs
that no name may have, and ids that are too long for a name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workshop import ListedSource, mcp
from toolcrib.access import (
    Scope,
    VisibleEntries,
    call_filter,
    count_unreviewed,
    search_filter,
    updated_filter,
    why_barred,
    why_hidden,
)
from toolcrib.model import (
    Capability,
    Entry,
    EntryGroups,
    EntryTraits,
    Kind,
    NameFilter,
    PermissionKind,
    SkillInfo,
    State,
    ToolInfo,
)
from toolcrib.pool import Pool, entry_names

IDS = ("git", "github", "git_hub", "a/b", "a b", "google", "google_drive", "long" * 16, "[x]")
BARES = ("read", "delete_file", "drive_delete_file", "hub_x", "x/y", "查", "a" * 70)
STATES: tuple[State, ...] = ("ready", "asleep", "unreviewed", "disabled", "needs_login")
PERMISSIONS: tuple[PermissionKind, ...] = ("read", "write", "dangerous")
PATTERNS = (
    *("*", "mcp_*", "m*", "git/*", "git*/re?d", "mcp:git/*", "sdk:git/*", "a_b/*", "a b/x/y"),
    *("mcp_github_*", "mcp_git_hub_x", "mcp_git_*", "mcp_a_b_read", "mcp_a/b_read", "[x]/*"),
    *("mcp_google_drive_delete_file", "google/drive_*", "builtin/*", "my.module/*", "read"),
    *("mcp_" + "long" * 16 + "*", "mcp_longlong*", "skill_*", "re*", "*_delete_file", "[[]x]/read"),
)


def tool(id: str, bare: str, permission: PermissionKind, *, searchable: bool) -> ToolInfo:
    return replace(mcp(id, bare), permission_kind=permission, searchable=searchable)


capabilities: st.SearchStrategy[Capability] = st.one_of(
    st.builds(
        tool,
        st.sampled_from(IDS),
        st.sampled_from(BARES),
        st.sampled_from(PERMISSIONS),
        searchable=st.booleans(),
    ),
    st.builds(
        lambda name, module: ToolInfo(name=name, description="", module=module),
        st.sampled_from(BARES[:4]),
        st.sampled_from(["", "my.module"]),
    ),
    st.builds(lambda name: SkillInfo(name=name, description=""), st.sampled_from(BARES[:3])),
)


def some(values: tuple[str, ...]) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(values), max_size=14)


scopes = st.builds(
    Scope,
    internal=some(PATTERNS[3:]),
    excluded=some(PATTERNS[3:]),
    allowed=st.none() | some(PATTERNS),
    sources=st.none() | some((*IDS, "g*", "builtin", "my.module", "*")),
    permissions=st.none() | st.frozensets(st.sampled_from(PERMISSIONS)),
    bound=some(("mcp_git_read", "read", "mcp_github_read")),
)
kinds: st.SearchStrategy[frozenset[Kind]] = st.sampled_from(
    [frozenset[Kind](), frozenset[Kind]({"skill"})]
)


def pooled(listed: Sequence[tuple[Capability, State]]) -> Mapping[str, Entry]:
    pool = Pool()
    pool.add(ListedSource(*(each for each, _ in listed)))
    states: list[State] = [state for _, state in listed]
    return {
        name: entry.in_state(states[number % len(states)])
        for number, (name, entry) in enumerate(pool.entries.items())
    }


pools = st.lists(st.tuples(capabilities, st.sampled_from(STATES)), min_size=1, max_size=25).map(
    pooled
)


@given(pools, scopes, kinds)
def test_a_filter_says_of_each_entry_what_its_verdict_is(
    entries: Mapping[str, Entry], scope: Scope, kinds: frozenset[Kind]
):
    groups = EntryGroups.of(entries)
    hidden, barred = search_filter(groups, scope, kinds), call_filter(groups, scope)
    for name, entry in entries.items():
        assert (name in hidden) == bool(why_hidden(entry, scope, kinds)), name
        assert (name in barred) == bool(why_barred(entry, scope)), name
    for each in (hidden, barred):
        assert each.names <= entries.keys()
        assert len(each.names) <= (len(entries) + 1) // 2


@given(pools, pools, scopes)
def test_a_filter_that_is_mended_is_as_one_that_is_made(
    before: Mapping[str, Entry], after: Mapping[str, Entry], scope: Scope
):
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    mended = updated_filter(
        search_filter(EntryGroups.of(before), scope),
        after,
        changed,
        lambda entry: why_hidden(entry, scope),
    )
    assert {name for name in after if name in mended} == {
        name for name, entry in after.items() if why_hidden(entry, scope)
    }
    assert mended.names <= after.keys()


@given(pools, pools)
def test_groups_that_are_mended_are_as_those_that_are_made(
    before: Mapping[str, Entry], after: Mapping[str, Entry]
):
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    old = EntryGroups.of(before)
    mended = old.changed(after, changed)
    assert {each: frozenset(mended[each]) for each in mended} == dict(EntryGroups.of(after))
    touched = old.touched(mended, changed)
    assert all(old.get(each) == mended.get(each) for each in {*old, *mended} - touched)


def test_a_filter_that_still_holds_stays_the_same():
    entries = pooled([(mcp("github", "read"), "ready"), (mcp("git", "read"), "ready")])
    scope = Scope(sources=frozenset({"git"}))
    old = search_filter(EntryGroups.of(entries), scope)
    assert updated_filter(old, entries, entries, lambda e: why_hidden(e, scope)) is old


@given(pools, scopes)
def test_what_waits_for_review_is_counted_as_if_it_were_ready(
    entries: Mapping[str, Entry], scope: Scope
):
    waiting = [each.in_state("ready") for each in entries.values() if each.state == "unreviewed"]
    expected = sum(not why_barred(each, scope) for each in waiting)
    assert count_unreviewed(EntryGroups.of(entries), scope) == expected


@pytest.mark.parametrize("hidden", [NameFilter.without(["b"]), NameFilter.only(["a", "c"])])
def test_visible_entries_are_a_mapping_without_what_is_hidden(hidden: NameFilter):
    pool = Pool()
    pool.add(ListedSource(*(ToolInfo(name=name, description="") for name in "abc")))
    visible = VisibleEntries(pool.entries, hidden)
    assert sorted(visible) == ["a", "c"]
    assert len(visible) == 2
    assert "b" not in visible
    assert visible.get("b") is None
    assert visible["a"] is pool.entries["a"]
    with pytest.raises(KeyError):
        visible["b"]


def test_a_bare_name_is_found_among_visible_entries_alone():
    pool = Pool()
    pool.add(ListedSource(mcp("git", "read"), mcp("github", "read")))
    visible = VisibleEntries(pool.entries, NameFilter.without(["mcp_github_read"]))
    assert entry_names(visible).resolve("read").name == "mcp_git_read"


def test_traits_tell_whose_an_entry_is_as_the_entry_does():
    for entry in pooled([(mcp("git", "read"), "ready")]).values():
        traits = EntryTraits.of(entry)
        assert (traits.owner, traits.owner_label) == (entry.owner, entry.owner_label)
