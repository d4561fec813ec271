"""What a pattern means: a table of patterns against tools of sources with names that overlap."""

from dataclasses import replace

import pytest

from tests.execute.counting import CountingSource, offered
from toolcrib.model import Entry, EntryTraits, SourceKind
from toolcrib.names import PatternIndex, bare_parts, bars, grants
from toolcrib.pool import Pool


class Named(CountingSource):
    def __init__(self, kind: SourceKind, id: str | None, *names: str) -> None:
        tools = (replace(offered(name), source=kind, source_id=id) for name in names)
        super().__init__(*tools)
        self.kind: SourceKind = kind
        self.id: str | None = id


LONG = "x" * 80


def entries() -> dict[tuple[str | None, str], Entry]:
    pool = Pool()
    pool.add(
        Named("mcp", "google", "drive_delete_file", "drive_exfil", "search"),
        Named("mcp", "google_drive", "delete_file", "list", LONG),
        Named("mcp", "my.server", "a.b", "plain"),
        Named("mcp", "odd/id", "go"),
        Named("mcp", "enterprise-tools", "delete_all", "list"),
        Named("mcp", "a", "b__c", "_d"),
        Named("mcp", "a__b", "c"),
        Named("mcp", "_g", "h"),
        Named("sdk", "google", "search"),
        Named("builtin", None, "mcp_google_drive_fake", "read_file"),
    )
    found: dict[tuple[str | None, str], Entry] = {}
    for entry in pool.entries.values():
        what = entry.capability
        id = what.source_id if what.source == "mcp" else what.source
        found[id, entry.bare] = entry
    return found


ENTRIES = entries()
DRIVE = {("google_drive", "delete_file"), ("google_drive", "list"), ("google_drive", LONG)}
GOOGLE = {("google", "drive_delete_file"), ("google", "drive_exfil"), ("google", "search")}
OVERLAP = {("google", "drive_delete_file"), ("google", "drive_exfil")}
FAKE = {("builtin", "mcp_google_drive_fake")}
TOOLS = {("enterprise-tools", "delete_all"), ("enterprise-tools", "list")}
SPLIT = {("a", "b__c"), ("a", "_d"), ("a__b", "c")}
OF_MCP = {at for at in ENTRIES if at[0] not in ("sdk", "builtin")}


@pytest.mark.parametrize(
    ("pattern", "granted", "barred"),
    [
        ("mcp_google_drive_*", DRIVE, DRIVE | OVERLAP | FAKE),
        (
            "mcp_google_drive_delete_file",
            {("google_drive", "delete_file")},
            {("google_drive", "delete_file"), ("google", "drive_delete_file")},
        ),
        ("mcp_google_drive_exfil", set(), {("google", "drive_exfil")}),
        ("mcp_google_*", GOOGLE, GOOGLE | DRIVE | FAKE),
        ("mcp_goo*", FAKE, GOOGLE | DRIVE | FAKE),
        ("mcp_*", OF_MCP | FAKE, OF_MCP | FAKE),
        ("*", set(ENTRIES), set(ENTRIES)),
        ("google/drive_*", OVERLAP, OVERLAP),
        ("google_drive/*", DRIVE, DRIVE),
        ("google*/list", {("google_drive", "list")}, {("google_drive", "list")}),
        (
            "google/search",
            {("google", "search"), ("sdk", "search")},
            {("google", "search"), ("sdk", "search")},
        ),
        ("mcp:google/search", {("google", "search")}, {("google", "search")}),
        ("sdk:google/*", {("sdk", "search")}, {("sdk", "search")}),
        ("sdk_google_search", {("sdk", "search")}, {("sdk", "search")}),
        ("builtin/read_file", {("builtin", "read_file")}, {("builtin", "read_file")}),
        ("read_file", {("builtin", "read_file")}, {("builtin", "read_file")}),
        ("mcp_my_server_*", {("my.server", "a.b"), ("my.server", "plain")}, None),
        ("mcp_my_server_a_b", set(), {("my.server", "a.b")}),
        ("my.server/a.b", {("my.server", "a.b")}, {("my.server", "a.b")}),
        ("odd_id/go", {("odd/id", "go")}, {("odd/id", "go")}),
        (f"mcp_google_drive_{LONG}", {("google_drive", LONG)}, {("google_drive", LONG)}),
        ("mcp_google_drive_*_*", {("google_drive", "delete_file")}, DRIVE | OVERLAP | FAKE),
        ("mcp__enterprise-tools__*", TOOLS, TOOLS),
        ("mcp__enterprise-tools", TOOLS, TOOLS),
        ("mcp__enterprise-tools__d*", {("enterprise-tools", "delete_all")}, None),
        ("mcp__enterprise_tools__*", set(), set()),
        ("mcp__google__drive_*", OVERLAP, OVERLAP),
        ("mcp__google__search", {("google", "search")}, {("google", "search")}),
        ("mcp__my_server__*", {("my.server", "a.b"), ("my.server", "plain")}, None),
        ("mcp__my.server__a.b", {("my.server", "a.b")}, {("my.server", "a.b")}),
        ("mcp__my_server__a_b", {("my.server", "a.b")}, {("my.server", "a.b")}),
        ("mcp__*", OF_MCP, OF_MCP),
        ("mcp__*__list", {("google_drive", "list"), ("enterprise-tools", "list")}, None),
        ("mcp__a__*", {("a", "b__c"), ("a", "_d")}, SPLIT),
        ("mcp__a__b__c", {("a__b", "c")}, {("a", "b__c"), ("a__b", "c")}),
        ("mcp__a__b", set(), {("a__b", "c")}),
        ("mcp__a___d", set(), {("a", "_d")}),
        ("mcp__g_h", {("_g", "h")}, {("_g", "h")}),
        ("nobody/*", set(), set()),
        ("Google_drive/*", set(), set()),
    ],
)
def test_what_gives_means_one_source_and_what_takes_away_means_any(
    pattern: str, granted: set[tuple[str, str]], barred: set[tuple[str, str]] | None
):
    assert {at for at, each in ENTRIES.items() if grants(pattern, each)} == granted
    assert {at for at, each in ENTRIES.items() if bars(pattern, each)} == (
        granted if barred is None else barred
    )


def test_the_names_that_we_give_are_patterns_for_the_very_tool():
    for at, entry in ENTRIES.items():
        assert bars(entry.name, entry)
        if not entry.overlaps:
            assert [one for one, each in ENTRIES.items() if grants(entry.name, each)] == [at]


def test_of_two_ids_that_are_shown_alike_only_the_one_as_written_is_meant():
    pool = Pool()
    pool.add(Named("mcp", "a.b", "go"), Named("mcp", "a_b", "go"))
    assert [
        each.capability.source_id for each in pool.entries.values() if grants("mcp_a_b_*", each)
    ] == ["a_b"]
    pool = Pool()
    pool.add(Named("mcp", "a.b", "go"), Named("mcp", "a b", "go"))
    assert not [each for each in pool.entries.values() if grants("mcp_a_b_*", each)]


def test_the_same_holds_where_they_are_written_with_two_signs():
    pool = Pool()
    pool.add(Named("mcp", "a.b", "go"), Named("mcp", "a_b", "go"))
    ids = [(each.capability.source_id, each) for each in pool.entries.values()]
    assert [id for id, each in ids if grants("mcp__a_b__*", each)] == ["a_b"]
    assert [id for id, each in ids if grants("mcp__a.b__*", each)] == ["a.b"]


def test_a_pattern_that_is_sorted_out_by_its_source_means_what_it_means_alone():
    patterns = ["mcp__enterprise-tools", "mcp__a__b__c", "mcp__a__*", "mcp__a*", "mcp__google"]
    index = PatternIndex([*patterns, *(f"other_{n}/*" for n in range(9))])
    for entry in ENTRIES.values():
        about = index.about(EntryTraits.of(entry))
        assert {each for each in patterns if bars(each, entry)} <= about
    assert not index.about(EntryTraits.of(ENTRIES["sdk", "search"]))


def test_a_server_whose_entry_cannot_be_used_counts_as_well():
    pool = Pool()
    pool.reserve("mcp", ["google_drive"])
    pool.add(Named("mcp", "google", "drive_exfil"))
    [entry] = pool.entries.values()
    assert not grants("mcp_google_drive_*", entry)


def test_a_server_that_has_not_been_listed_yet_counts_all_the_same():
    pool = Pool()
    pool.add(Named("mcp", "google", "drive_exfil"))
    [entry] = pool.entries.values()
    assert grants("mcp_google_drive_*", entry)
    pool.add(Named("mcp", "google_drive"))
    [entry] = pool.entries.values()
    assert entry.overlaps == ("mcp_google_drive_",)
    assert not grants("mcp_google_drive_*", entry)


def test_a_name_without_end_is_not_taken_apart():
    assert [*bare_parts("mcp__a__b__c")] == ["b__c", "c"]
    assert [*bare_parts("mcp__a___b")] == ["_b", "b"]
    assert not [*bare_parts("mcp_" + "_a_" * 100_000)]
    assert not [*bare_parts("a__b")]
