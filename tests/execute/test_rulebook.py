"""What the rules and the defaults say of a tool, whoever named it."""

from dataclasses import replace
from typing import get_args

import pytest

from tests.defaults import rulebook
from tests.execute.counting import CountingSource, offered
from toolcrib.execute import Rule, Rulebook, Verdict
from toolcrib.execute.rulebook import decide, default_verdict
from toolcrib.model import Entry, PermissionKind, ToolInfo
from toolcrib.pool import Pool
from toolcrib.settings import ServerApproval

KINDS: tuple[PermissionKind, ...] = get_args(PermissionKind)


def entry_of(bare: str, kind: PermissionKind = "write", **facts: object) -> Entry:
    pool = Pool()
    pool.add(CountingSource(replace(offered(bare, kind), **{"source_id": "github", **facts})))
    [entry] = pool.entries.values()
    return entry


PAY = entry_of("pay", "dangerous")


@pytest.mark.parametrize("kind", KINDS)
def test_of_what_came_along_only_a_read_is_allowed(kind: PermissionKind):
    assert rulebook().verdict(entry_of("look", kind)) == ("allow" if kind == "read" else "ask")


@pytest.mark.parametrize(
    ("rules", "verdict"),
    [
        ([Rule("deny", "mcp_github_*"), Rule("allow")], "deny"),
        ([Rule("allow"), Rule("deny", "mcp_github_*")], "allow"),
        ([Rule("deny", kind="write"), Rule("allow", kind="dangerous")], "allow"),
        ([Rule("allow", "mcp_github_*", "read")], "ask"),
        ([Rule("allow", "mcp_github_*", "dangerous")], "allow"),
        ([Rule("allow", "MCP_GITHUB_*")], "ask"),
        ([Rule("allow", "github")], "ask"),
    ],
)
def test_the_first_rule_that_matches_decides(rules: list[Rule], verdict: Verdict):
    assert decide(PAY, rules, "ask") == verdict


@pytest.mark.parametrize(
    ("servers", "asked"),
    [
        ("allow", ()),
        ("destructive", ("dangerous",)),
        ("ask", ("write", "execute", "network", "dangerous")),
    ],
)
def test_tools_of_servers_that_the_operator_named_ask_as_it_is_set(
    servers: ServerApproval, asked: tuple[PermissionKind, ...]
):
    book = Rulebook(servers=servers)
    for kind in KINDS:
        verdict = book.verdict(entry_of("pay", kind, named_by="operator"))
        assert verdict == ("ask" if kind in asked else "allow"), kind


@pytest.mark.parametrize("servers", get_args(ServerApproval))
@pytest.mark.parametrize("kind", KINDS)
def test_functions_of_the_program_ask_only_where_they_say_so(
    kind: PermissionKind, servers: ServerApproval
):
    tool = ToolInfo(name="pay", description="", permission_kind=kind, named_by="program")
    assert default_verdict(tool, servers) == ("ask" if kind == "dangerous" else "allow")
    assert default_verdict(replace(tool, approval="ask"), servers) == "ask"


def test_a_tool_that_the_operator_calls_dangerous_asks_whatever_is_set():
    entry = entry_of("pay", "dangerous", named_by="operator", approval="ask")
    assert Rulebook(servers="allow").verdict(entry) == "ask"
    assert rulebook(Rule("allow", "github/pay")).verdict(entry) == "allow"


def test_a_profile_may_have_another_default_and_rules_of_its_own():
    entry = entry_of("pay", named_by="operator")
    rules = (Rule("deny", "github/*", profile="principals"), Rule("ask", profile="agents"))
    book = Rulebook("allow", rules, profiles={"work": "ask"})
    verdicts = {each: book.verdict(entry, each) for each in ("", "work", "principals", "agents")}
    assert verdicts == {"": "allow", "work": "ask", "principals": "deny", "agents": "ask"}


def test_rules_of_the_commands_come_before_those_of_the_settings():
    written = [Rule("allow", "github/pay")]
    book = replace(rulebook(Rule("deny", "github/*")), written=lambda: tuple(written))
    assert book.verdict(PAY) == "allow"
    written[:] = [Rule("ask")]
    assert book.verdict(PAY) == "ask"
    written.clear()
    assert book.verdict(PAY) == "deny"


def test_a_verdict_is_remembered_for_this_entry_and_these_rules_alone():
    entry = entry_of("pay", named_by="operator")
    written: tuple[Rule, ...] = ()
    book = Rulebook("allow", written=lambda: written)
    assert [book.verdict(entry), book.verdict(entry)] == ["allow", "allow"]
    written = (Rule("deny"),)
    assert [book.verdict(entry), book.verdict(entry)] == ["deny", "deny"]
    written = (Rule("deny", kind="dangerous"),)
    assert book.verdict(entry) == "allow"
    assert book.verdict(entry_of("pay", "dangerous", named_by="operator")) == "deny"
    assert book.verdict(entry) == "allow"


def test_a_verdict_is_of_one_profile():
    entry = entry_of("pay", named_by="operator")
    book = Rulebook("allow", (Rule("deny", profile="agents"),))
    assert [book.verdict(entry, each) for each in ("", "agents", "")] == ["allow", "deny", "allow"]


def test_rules_in_a_list_that_somebody_changes_are_read_each_time():
    entry, rules = entry_of("pay", named_by="operator"), list[Rule]()
    book = Rulebook("allow", written=lambda: rules)
    assert book.verdict(entry) == "allow"
    rules.append(Rule("deny"))
    assert book.verdict(entry) == "deny"
