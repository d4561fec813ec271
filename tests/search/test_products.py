from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.model import Entry, NameFilter, ToolInfo
from toolcrib.search import (
    NamedProduct,
    PoolFacts,
    PoolProducts,
    named_products,
    names_absent,
    product_evidence,
)


def tool(server: str, name: str, description: str = "", title: str = "", hint: str = "") -> Entry:
    info = ToolInfo(
        name=name,
        description=description,
        source_id=server or None,
        title=title,
        search_hint=hint,
    )
    return Entry(f"{server}_{name}", name, info)


SLACK = tool("modelcontextprotocol-server-slack", "post_message")
JIRA = tool("acme-jira-mcp", "create_issue")
GMAIL = tool("google-workspace-mcp", "query_gmail_emails")
SHEETS = tool("google-workspace-mcp", "append_rows")
S3 = tool("awslabs-s3-mcp-server", "list_buckets")
COSTS = tool("awslabs-aws-pricing-mcp-server", "get_price")
SUPABASE = tool("supabase-mcp", "run_sql")
GATEWAY = tool("chat", "send", "Sends a message to Microsoft Teams.")
BROWSER = tool("playwright-mcp", "navigate", "Opens a page, such as https://trello.com")
NOTES = tool("basic-memory", "write_note")
CLOCK = tool("time", "convert")


def pool_products(entries: Iterable[Entry]) -> PoolProducts:
    return PoolProducts(PoolFacts.of({entry.name: entry for entry in entries}))


POOL = [SLACK, JIRA, GMAIL, SHEETS, S3, COSTS, SUPABASE, GATEWAY, BROWSER, NOTES, CLOCK]


@pytest.fixture(scope="module")
def known() -> PoolProducts:
    return pool_products(POOL)


def evidence(request_text: str, entry: Entry, known: PoolProducts) -> float:
    return product_evidence(entry, named_products(request_text, known), known)


@pytest.mark.parametrize(
    ("request_text", "entry", "expected"),
    [
        ("ping bob on slack", SLACK, 1.0),
        ("ping bob on slack", JIRA, -1.0),
        ("ping bob on slack", NOTES, -0.5),
        ("ping bob on slack", BROWSER, 0.0),
        ("在slack上通知大家", SLACK, 1.0),
        ("在slack上通知大家", JIRA, -1.0),
        ("from jira to slack", SLACK, 1.0),
        ("from jira to slack", JIRA, 1.0),
        ("from jira to slack", GMAIL, -1.0),
        ("any new gmail?", GMAIL, 1.0),
        ("add a row in google sheets", SHEETS, 0.5),
        ("add a row in google sheets", GMAIL, -1.0),
        ("what do I have in google workspace", GMAIL, 1.0),
        ("list my s3 buckets", S3, 1.0),
        ("list my s3 buckets", COSTS, 0.5),
        ("show my aws bill", S3, 1.0),
        ("run a query on postgres", SUPABASE, 0.5),
        ("run a query on postgres", COSTS, 0.5),  # of a suite that has databases of this kind
        ("run a query on postgres", S3, -1.0),
        ("message her on microsoft teams", GATEWAY, 0.5),
        ("message her on microsoft teams", SLACK, -1.0),
        ("give me some slack here", SLACK, 0.5),
        ("give me some slack here", JIRA, 0.0),
        ("save it to basic memory", NOTES, 1.0),
        ("what time is it", CLOCK, 0.5),
        ("what time is it", SLACK, 0.0),
        ("add a card in trello", BROWSER, 0.25),
        ("add a card in trello", SLACK, 0.0),
        ("read my mail", GMAIL, 0.0),
        ("", SLACK, 0.0),
    ],
)
def test_a_candidate_is_judged_by_what_the_request_names(
    request_text: str, entry: Entry, expected: float, known: PoolProducts
):
    assert evidence(request_text, entry, known) == expected


@pytest.mark.parametrize(
    ("request_text", "absent"),
    [
        ("add milk to my todoist list", True),
        ("用支付宝转两百块", True),
        ("move it from todoist to asana", True),
        ("move it from todoist to jira", False),
        ("ping bob on slack", False),
        ("add a card in trello", False),  # a description speaks of it
        ("open the excel file", False),  # a format as well
        ("who is the ceo of spotify", False),
        ("mail bob@hubspot.com", False),
        ("read my mail", False),
        ("", False),
    ],
)
def test_a_product_that_nothing_knows_is_absent(
    request_text: str, absent: bool, known: PoolProducts
):
    assert names_absent(named_products(request_text, known), known) is absent


def test_a_request_tells_which_tools_have_what_it_names(known: PoolProducts):
    gmail, asana = named_products("mail in gmail, then asana", known)
    assert (gmail.name, set(gmail.tools), gmail.present) == ("gmail", {GMAIL.name}, True)
    assert (asana.name, set(asana.tools), asana.present) == ("asana", set(), False)


def test_a_tool_is_of_the_product_in_its_own_name_titles_tags_and_hint():
    own = [
        tool("hub", "trello_add_card"),
        tool("hub", "b", title="Add a card to Trello"),
        tool("hub", "c", hint="trello 看板"),
        Entry("d", "d", ToolInfo(name="d", description="", tags=("trello",))),
        tool("xtrelloapi", "e"),
        tool("trelloapi", "f"),
    ]
    [trello] = named_products("a card in trello", pool_products(own))
    assert set(trello.tools) == {"hub_trello_add_card", "hub_b", "hub_c", "d", "trelloapi_f"}


def test_an_everyday_word_in_the_name_of_a_tool_needs_its_description():
    messages = tool("chat", "slack_post", "Posts to a Slack channel.")
    rope = tool("rope", "slack_line", "How much slack a line has.")
    [slack] = named_products("post it on slack", pool_products([messages, rope]))
    assert set(slack.tools) == {messages.name}


def test_in_a_pool_of_no_products_names_are_arguments():
    functions = [tool("", f"get_thing_{n}") for n in range(30)]
    known = pool_products([*functions, SLACK])
    assert not names_absent(named_products("refund it in stripe", known), known)
    assert -0.1 < evidence("ping bob on slack", functions[0], known) < 0


def test_what_comes_with_toolcrib_is_never_held_against():
    ours = Entry("now", "now", ToolInfo(name="now", description="", packaged=True))
    known = pool_products([SLACK, ours])
    assert known.share == 1.0
    assert evidence("ping bob on slack", ours, known) == 0.0


def test_an_empty_pool_knows_nothing_and_fails_at_nothing():
    empty = pool_products([])
    assert not names_absent(named_products("refund it in stripe", empty), empty)
    assert evidence("refund it in stripe", SLACK, empty) == 0.0


def test_a_huge_request_is_read_at_its_beginning(known: PoolProducts):
    huge = "lorem ipsum " * 100_000
    assert named_products(huge + "basic memory on slack", known) == ()
    assert [each.name for each in named_products("on slack: " + huge, known)] == ["slack"]


def test_what_is_perhaps_named_and_is_not_here_is_left_out(known: PoolProducts):
    assert named_products("zoom in on the map", known) == ()


def test_quoted_names_of_servers_name_nothing(known: PoolProducts):
    assert named_products('translate "basic memory"', known) == ()


def test_who_may_not_see_a_tool_does_not_learn_of_its_product():
    facts = PoolFacts.of({each.name: each for each in POOL})
    blind = PoolProducts(facts, NameFilter.without([SLACK.name]))
    [slack] = named_products("ping bob on slack", blind)
    assert not slack.present
    assert SLACK.name not in slack.tools
    jira_alone = PoolProducts(facts, NameFilter.only([JIRA.name, NOTES.name]))
    assert jira_alone.share == 0.5
    assert not named_products("save it to basic memory", PoolProducts(facts, NameFilter.only([])))


TOOLS = st.sampled_from(POOL)
SOME = st.lists(TOOLS, unique_by=lambda entry: entry.name)


@given(before=SOME, after=SOME, hidden=st.booleans(), less=SOME)
def test_products_that_are_mended_are_as_those_that_are_made(
    *, before: list[Entry], after: list[Entry], hidden: bool, less: list[Entry]
):
    old, new = ({each.name: each for each in some} for some in (before, after))
    changed = {each.name for each in POOL if old.get(each.name) is not new.get(each.name)}
    left_out = NameFilter(frozenset(each.name for each in less), inverted=hidden)
    first = PoolFacts.of(old)
    for counted in (False, True):
        earlier = PoolProducts(first, left_out)
        assert not counted or earlier.share >= 0
        mended = earlier.updated(first.changed(new, changed), left_out, changed)
        made = PoolProducts(PoolFacts.of(new), left_out)
        assert mended.share == made.share
        for text in ("ping bob on slack", "a row in google sheets", "save it to basic memory"):
            assert [seen(each) for each in named_products(text, mended)] == [
                seen(each) for each in named_products(text, made)
            ]
            assert [evidence(text, each, mended) for each in POOL] == [
                evidence(text, each, made) for each in POOL
            ]


def seen(named: NamedProduct) -> tuple[object, ...]:
    return named.name, *(frozenset(each) for each in (named.tools, named.partly, named.mentions))
