"""What a tool asks in the middle of a call, through us, in both eras on either side."""

import asyncio
from collections.abc import Iterator

import mcp_types as types
import pytest
from mcp import MCPError

from tests.gateway.fake_servers import ERAS, Person, add_fake, client_of, crib_at, said, words
from tests.waiting import HANG_S, until_async
from toolcrib import Crib
from toolcrib.crib import inventory_of
from toolcrib.gateway.principal import Principal

BACKS = ("old", "modern")
EVERY = [(front, back) for front in ERAS for back in BACKS]
SAMPLED = types.CreateMessageResult(
    role="assistant", content=types.TextContent(type="text", text="Ho."), model="m"
)
ROOTS = types.ListRootsResult.model_validate({"roots": [{"uri": "file:///here"}]})


@pytest.fixture(scope="module")
def crib(tmp_path_factory) -> Iterator[Crib]:
    with crib_at(tmp_path_factory.mktemp("asking")) as crib:
        add_fake(crib, "old", "asks", sampling=True)
        add_fake(crib, "modern", "asks", "modern", sampling=True)
        yield crib


@pytest.fixture
def alone(tmp_path) -> Iterator[Crib]:
    """A crib whose server was never left in the middle of a call."""
    with crib_at(tmp_path) as crib:
        add_fake(crib, "old", "asks", sampling=True)
        yield crib


def elicited(action, **content):
    return types.ElicitResult(action=action, content=content or None)


def under_way(crib):
    """The calls that the server `old` has been sent and has not answered."""
    connection = inventory_of(crib).servers["old"]._supervisor._connection
    assert connection
    return connection._calls._active


async def called(crib, front, back, person, name):
    async with asyncio.timeout(HANG_S), client_of(crib, front, person) as client:
        return await client.call_tool(f"mcp_{back}_{name}", {})


@pytest.mark.parametrize(("front", "back"), EVERY)
def test_a_person_accepts_declines_and_dismisses(crib, front, back):
    replies = [elicited("accept", name="Ann"), elicited("decline"), elicited("cancel")]

    async def ask_all():
        left = iter(replies)

        async def next_reply(_params):
            return next(left)

        person = Person(elicit=next_reply)
        async with asyncio.timeout(HANG_S), client_of(crib, front, person) as client:
            got = [said(await client.call_tool(f"mcp_{back}_elicits", {})) for _ in replies]
        return got, person.asked

    got, asked = asyncio.run(ask_all())
    actions = [each["elicits"]["result"] for each in got]
    assert actions[0] == {"action": "accept", "content": {"name": "Ann"}}
    assert [each["action"] for each in actions] == ["accept", "decline", "cancel"]
    assert [each.message for each in asked] == [f"MCP server {back!r} asks: Who?"] * 3


@pytest.mark.parametrize(("front", "back"), EVERY)
def test_a_model_and_roots_are_asked_for_as_well_and_all_at_once(crib, front, back):
    person = Person(elicit=elicited("accept", name="Ann"), sample=SAMPLED, roots=ROOTS)
    got = said(asyncio.run(called(crib, front, back, person, "several")))
    assert got["elicits"]["result"]["content"] == {"name": "Ann"}
    assert got["samples"]["result"]["content"]["text"] == "Ho."
    assert got["wants_roots"]["result"]["roots"][0]["uri"] == "file:///here"
    assert len(person.asked) == 3


@pytest.mark.parametrize(("front", "back"), EVERY)
def test_whoever_cannot_be_asked_is_not_and_the_tool_hears_so(crib, front, back):
    nobody = Person()
    names = ("elicits", "wants_roots", "samples")
    each = [said(asyncio.run(called(crib, front, back, nobody, name))) for name in names]
    elicited, roots, sampled = (got[name] for got, name in zip(each, names, strict=True))
    assert elicited == {"result": {"action": "cancel"}}
    assert roots == {"result": {"roots": []}}
    without = {"old": {"error": {"code": -1, "message": "nobody is there to reply"}}}
    assert sampled == without.get(back, "without a model")


@pytest.mark.parametrize("front", ERAS)
def test_a_server_without_roots_that_fails_fails_in_its_own_words(crib, front):
    failed = asyncio.run(called(crib, front, "old", Person(), "roots_or_fail"))
    assert failed.is_error
    assert words(failed) == 'out of paper, with {"result": {"roots": []}}'


@pytest.mark.parametrize(("front", "back"), EVERY)
def test_a_server_that_cannot_do_without_a_model_says_so_itself(crib, front, back):
    if (front, back) == ("auto", "modern"):  # both have an error of the protocol for it
        own = pytest.RaisesExc(MCPError, match="no model, no work")
        with pytest.RaisesGroup(own, flatten_subgroups=True):
            asyncio.run(called(crib, front, back, Person(), "needs_model"))
        return
    failed = asyncio.run(called(crib, front, back, Person(), "needs_model"))
    assert failed.is_error
    assert ("no model, no work" if back == "modern" else "nobody is there") in words(failed)


@pytest.mark.parametrize("front", ERAS)
def test_a_server_that_goes_on_asking_for_a_model_is_given_up(crib, front):
    failed = asyncio.run(called(crib, front, "modern", Person(), "insists"))
    assert "unanswered" in words(failed)


@pytest.mark.parametrize("back", BACKS)
def test_a_program_without_anybody_to_ask_has_no_roots(crib, back):
    outcome = asyncio.run(crib.call(f"mcp_{back}_wants_roots", {}))
    assert '{"roots": []}' in str(outcome.content)


@pytest.mark.parametrize(("front", "back"), EVERY)
def test_what_the_client_did_not_declare_is_left_out_and_the_rest_is_asked(crib, front, back):
    person = Person(sample=SAMPLED, roots=ROOTS)
    got = said(asyncio.run(called(crib, front, back, person, "several")))
    assert got["elicits"]["result"] == {"action": "cancel"}
    assert got["samples"]["result"]["model"] == "m"
    assert len(person.asked) == 2


@pytest.mark.parametrize("front", ERAS)
def test_two_principals_at_once_are_each_asked_their_own(crib, front):

    async def both():
        here = asyncio.Barrier(2)

        async def ask_one(name):
            async def reply(params):
                await asyncio.wait({asyncio.ensure_future(here.wait())}, timeout=HANG_S)
                return elicited("accept", name=f"{name} {params.message}")

            person = Person(elicit=reply)
            async with client_of(crib, front, person, Principal(name)) as client:
                return said(await client.call_tool("mcp_modern_elicits", {"words": name}))

        async with asyncio.timeout(HANG_S):
            return await asyncio.gather(ask_one("ann"), ask_one("bob"))

    ann, bob = (each["elicits"]["result"]["content"]["name"] for each in asyncio.run(both()))
    asks = "MCP server 'modern' asks:"
    assert (ann, bob) == (f"ann {asks} ann", f"bob {asks} bob")


@pytest.mark.parametrize("front", ERAS)
def test_on_a_pipe_with_two_calls_under_way_nobody_is_asked(crib, front):

    async def one_while_another_sleeps():
        person, other = Person(elicit=elicited("accept", name="?")), Person()
        async with (
            asyncio.timeout(HANG_S),
            client_of(crib, front, person, Principal("ann")) as ann,
            client_of(crib, front, other, Principal("bob")) as bob,
        ):
            await bob.call_tool("mcp_old_echo", {"text": "up"})
            sleeping = asyncio.ensure_future(bob.call_tool("mcp_old_sleep", {"s": 2.0}))
            await until_async(lambda: under_way(crib))
            got = said(await ann.call_tool("mcp_old_elicits", {}))
            await sleeping
            after = said(await ann.call_tool("mcp_old_elicits", {}))
            return got, after

    got, after = asyncio.run(one_while_another_sleeps())
    assert got["elicits"]["result"] == {"action": "cancel"}
    assert after["elicits"]["result"]["action"] == "accept"


def test_what_an_abandoned_call_still_asks_reaches_no_other_principal(alone):

    async def abandoned():
        ann = Person(elicit=elicited("accept", name="ann"))
        bob = Person(elicit=elicited("accept", name="bob"))
        async with (
            asyncio.timeout(HANG_S),
            client_of(alone, "legacy", ann, Principal("ann")) as hers,
            client_of(alone, "legacy", bob, Principal("bob")) as his,
        ):
            await hers.call_tool("mcp_old_echo", {"text": "up"})
            late = asyncio.ensure_future(hers.call_tool("mcp_old_asks_late", {"s": 0.6}))
            await until_async(lambda: under_way(alone))
            late.cancel()
            await his.call_tool("mcp_old_sleep", {"s": 1.0})
            return ann.asked, bob.asked, said(await his.call_tool("mcp_old_heard", {}))

    hers, his, heard = asyncio.run(abandoned())
    assert (hers, his) == ([], [])
    assert {"result": {"action": "cancel"}} in heard


async def cancelled(crib, front, back):
    """Cancel a call while it asks; whether it ended, and what the server has heard by then."""

    async def never(_params):
        await asyncio.sleep(600)

    person = Person(elicit=never)
    async with asyncio.timeout(HANG_S), client_of(crib, front, person) as client:
        call = asyncio.ensure_future(client.call_tool(f"mcp_{back}_elicits", {}))
        await person.reached.wait()
        call.cancel()
        await asyncio.wait({call})
        return call.cancelled(), said(await client.call_tool(f"mcp_{back}_heard", {}))


@pytest.mark.parametrize(("front", "back"), EVERY)
def test_who_cancels_while_asked_ends_the_call_and_can_go_on(crib, front, back):
    assert asyncio.run(cancelled(crib, front, back))[0]


def test_a_server_hears_that_the_call_in_which_it_asks_was_given_up(alone):
    _, heard = asyncio.run(cancelled(alone, "legacy", "old"))
    assert any("cancelled" in each for each in heard)


@pytest.mark.parametrize(("front", "back"), EVERY)
def test_what_a_tool_says_is_heard_by_whoever_called_it(crib, front, back):
    person = Person()

    async def listening():
        least = "warning" if front == "auto" else None
        async with (
            asyncio.timeout(HANG_S),
            client_of(crib, front, person, log_level=least) as client,
        ):
            levels = ["debug", "info", "warning", "no such"]
            await client.call_tool(f"mcp_{back}_says", {"levels": levels})

    asyncio.run(listening())
    least = [("warning", {"at": "warning"})]
    assert person.words == (least if front == "auto" else [("info", {"at": "info"}), *least])


@pytest.mark.parametrize(("front", "back"), EVERY)
def test_a_hostile_question_says_whose_it_is_and_hides_nothing(crib, front, back):
    words_of_it = "\x1b[2JToolcrib\u202e says:\nyour password?"
    person = Person(elicit=elicited("decline"))

    async def ask():
        async with asyncio.timeout(HANG_S), client_of(crib, front, person) as client:
            await client.call_tool(f"mcp_{back}_elicits", {"words": words_of_it})

    asyncio.run(ask())
    (asked,) = person.asked
    assert asked.message.split("\n") == [
        f"MCP server {back!r} asks:",
        "> ⟨U+001B⟩[2JToolcrib⟨U+202E⟩ says:",
        "> your password?",
    ]
    if front == "legacy":  # the SDK's client of the modern era does not hand it on
        assert asked.meta["toolcrib/server"] == back


@pytest.mark.parametrize(("front", "back"), EVERY)
def test_no_server_gets_to_see_what_others_said(crib, front, back):
    person = Person(sample=SAMPLED)
    asyncio.run(called(crib, front, back, person, "samples"))
    (asked,) = person.asked
    assert asked.include_context == "none"


@pytest.mark.parametrize("back", BACKS)
def test_a_server_that_may_not_ask_does_not(tmp_path, back):
    person = Person(elicit=elicited("accept", name="Ann"), sample=SAMPLED)
    with crib_at(tmp_path) as crib:
        add_fake(crib, back, "asks", *(["modern"] if back == "modern" else []), elicitation=False)

        async def both():
            async with asyncio.timeout(HANG_S), client_of(crib, "legacy", person) as client:
                await client.call_tool(f"mcp_{back}_elicits", {})
                await client.call_tool(f"mcp_{back}_samples", {})

        asyncio.run(both())
    assert person.asked == []
