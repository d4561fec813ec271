from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.workshop import SEEN, mcp, pooled
from toolcrib.access import FilterVerdict, Scope, search_filter, why_barred, why_hidden
from toolcrib.model import Entry, EntryGroups, SkillInfo, ToolInfo

TOOL = ToolInfo(name="read_file", description="")
ENTRY = Entry("read_file", "read_file", TOOL)
NOBODY = frozenset[str]()
EVERYTHING_IS_WRONG = Entry("read_file", "x", replace(TOOL, searchable=False), "disabled")
ALL_FILTERS = Scope(
    internal=frozenset({"read_file"}),
    excluded=frozenset({"read_file"}),
    allowed=NOBODY,
    bound=frozenset({"read_file"}),
)


def names(*some: str) -> frozenset[str]:
    return frozenset(some)


def hidden_of(entries: Mapping[str, Entry], scope: Scope) -> set[str]:
    hidden = search_filter(EntryGroups.of(entries), scope)
    return {name for name in entries if name in hidden}


def test_nothing_said_is_nothing_hidden():
    assert why_hidden(ENTRY, Scope()) == ""
    assert not search_filter(EntryGroups.of(pooled(*SEEN)), Scope())


@pytest.mark.parametrize(
    "scope", [Scope(sources=names("builtin")), Scope(permissions=frozenset({"write"}))]
)
def test_whose_it_is_and_of_what_kind_lets_it_through(scope: Scope):
    assert why_hidden(ENTRY, scope) == ""


@pytest.mark.parametrize(
    ("entry", "scope", "expected"),
    [
        (replace(ENTRY, state="disabled"), Scope(), "disabled"),
        (replace(ENTRY, state="other_platform"), Scope(), "other platform"),
        (ENTRY, Scope(internal=names("read_file")), "internal"),
        (replace(ENTRY, capability=replace(TOOL, searchable=False)), Scope(), "not searchable"),
        (ENTRY, Scope(excluded=names("read_*")), "excluded"),
        (ENTRY, Scope(allowed=names("write_*")), "no right"),
        (ENTRY, Scope(sources=names("github")), "no right"),
        (ENTRY, Scope(permissions=frozenset({"read"})), "no right"),
        (ENTRY, Scope(bound=names("read_file")), "already bound"),
    ],
)
def test_each_filter_hides_what_it_is_for(entry: Entry, scope: Scope, expected: FilterVerdict):
    assert why_hidden(entry, scope) == expected
    assert "read_file" in search_filter(EntryGroups.of({entry.name: entry}), scope)


@pytest.mark.parametrize("state", ["ready", "asleep", "needs_login", "changed"])
def test_what_cannot_be_called_this_minute_is_still_found(state):
    assert why_hidden(replace(ENTRY, state=state), Scope()) == ""


def test_the_kinds_that_were_asked_for_are_seen():
    assert why_hidden(ENTRY, Scope(), frozenset({"tool", "agent"})) == ""
    assert why_hidden(ENTRY, Scope(), frozenset({"skill"})) == "other kind"
    skill = Entry("skill_pdf", "pdf", SkillInfo(name="skill_pdf", description=""))
    assert why_hidden(skill, Scope(), frozenset({"skill"})) == ""


ORDER: list[tuple[FilterVerdict, Entry, Scope]] = [
    ("disabled", EVERYTHING_IS_WRONG, ALL_FILTERS),
    ("other platform", replace(EVERYTHING_IS_WRONG, state="other_platform"), ALL_FILTERS),
    ("internal", replace(EVERYTHING_IS_WRONG, state="ready"), ALL_FILTERS),
    (
        "not searchable",
        replace(EVERYTHING_IS_WRONG, state="ready"),
        replace(ALL_FILTERS, internal=NOBODY),
    ),
    ("excluded", ENTRY, replace(ALL_FILTERS, internal=NOBODY)),
    ("no right", ENTRY, replace(ALL_FILTERS, internal=NOBODY, excluded=NOBODY)),
    ("already bound", ENTRY, Scope(bound=names("read_file"))),
    ("other kind", ENTRY, Scope()),
]


@pytest.mark.parametrize(("expected", "entry", "scope"), ORDER, ids=[each[0] for each in ORDER])
def test_the_first_filter_that_says_no_is_the_one_that_is_named(
    expected: FilterVerdict, entry: Entry, scope: Scope
):
    assert why_hidden(entry, scope, frozenset({"skill"})) == expected


def test_an_empty_allow_list_means_nothing():
    entries = pooled(*SEEN)
    assert set(entries) == hidden_of(entries, Scope(allowed=NOBODY))


def test_no_allow_list_means_everything():
    assert not search_filter(EntryGroups.of(pooled(*SEEN)), Scope(allowed=None))


def test_a_pattern_stands_for_a_whole_server():
    entries = pooled(*SEEN)
    github = {"mcp_github_create_issue", "mcp_github_list_issues"}
    assert hidden_of(entries, Scope(excluded=names("mcp_github_*"))) == github
    allowed = hidden_of(entries, Scope(allowed=names("mcp_github_*")))
    assert entries.keys() - allowed == github


def test_a_pattern_is_about_the_whole_name_and_its_case():
    assert why_hidden(ENTRY, Scope(excluded=names("read"))) == ""
    assert why_hidden(ENTRY, Scope(excluded=names("file*"))) == ""
    assert why_hidden(ENTRY, Scope(excluded=names("READ_*"))) == ""


def test_a_name_is_never_mistaken_for_a_pattern_of_another():
    entries = pooled(mcp("github_enterprise", "delete"), mcp("github", "delete"))
    excluded = hidden_of(entries, Scope(excluded=names("mcp_github_delete")))
    assert excluded == {"mcp_github_delete"}


def test_what_is_bound_is_a_name_and_no_pattern():
    assert why_hidden(ENTRY, Scope(bound=names("*"))) == ""


@pytest.mark.parametrize(
    ("entry", "scope"),
    [
        (replace(ENTRY, state="disabled"), Scope()),
        (replace(ENTRY, state="other_platform"), Scope()),
        (ENTRY, Scope(internal=names("read_*"))),
        (ENTRY, Scope(excluded=names("read_file"))),
        (ENTRY, Scope(allowed=NOBODY)),
    ],
)
def test_what_is_hidden_for_want_of_a_right_is_barred_from_calls_too(entry: Entry, scope: Scope):
    assert why_barred(entry, scope) == why_hidden(entry, scope) != ""


def test_what_only_tidies_a_search_bars_no_call():
    unseen = replace(ENTRY, capability=replace(TOOL, searchable=False))
    assert why_barred(unseen, Scope(bound=names("read_file"))) == ""
    assert why_barred(unseen, Scope(allowed=NOBODY)) == "no right"


def test_of_many_patterns_those_that_are_about_an_entry_count():
    entries = pooled(*SEEN, mcp("google", "drive_x"), mcp("google_drive", "x"))
    many = [f"mcp_server{number}_x" for number in range(50)]
    for pattern in ("mcp_github_*", "github/list_issues", "read_file", "*", "mcp_google_drive_x"):
        for entry in entries.values():
            few = Scope(allowed=names(pattern)), Scope(excluded=names(pattern))
            more = Scope(allowed=names(pattern, *many)), Scope(excluded=names(pattern, *many))
            for one, other in zip(few, more, strict=True):
                assert why_barred(entry, one) == why_barred(entry, other)
