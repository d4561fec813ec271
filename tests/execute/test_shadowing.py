"""Two servers with equal names, and names that look equal: nobody takes another's place."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.defaults import POLICY, rulebook
from tests.execute.counting import ANN, CountingSource, offered
from tests.plan import amount
from toolcrib.execute import Door, Rule
from toolcrib.model import Call
from toolcrib.pool import Pool

SPELLINGS = ("{}", "{}.", "{} ", "{}_", "{}-", "{}\u200b", "{}\u0430", "{}a", "{}A")


class Server(CountingSource):
    def __init__(self, id: str, *names: str) -> None:
        super().__init__(*(replace(offered(name), source_id=id) for name in names))
        self.id = id


def names(count: int) -> list[str]:
    """Words in several spellings that differ by what is hard to see."""
    return [
        SPELLINGS[at % len(SPELLINGS)].format(f"tool{at // len(SPELLINGS)}") for at in range(count)
    ]


def origins(pool: Pool) -> Mapping[str, tuple[str | None, str]]:
    return {name: (entry.capability.source_id, entry.bare) for name, entry in pool.entries.items()}


@pytest.fixture
def servers() -> list[Server]:
    said = names(amount(39, "names"))
    return [Server("one", *said), Server("two", *said)]


@pytest.mark.plan(39)
def test_a_name_of_two_is_nobodys_and_the_error_has_the_candidates(servers: list[Server]):
    pool = Pool()
    pool.add(*servers)
    door = Door(pool, replace(POLICY, rulebook=rulebook(Rule("allow"))))

    async def calling() -> None:
        for bare in {entry.bare for entry in pool.entries.values()}:
            error = (await door.execute(Call(bare), ANN)).error
            assert error
            assert error.code == "ambiguous_name"
            assert error.message.count("mcp_one_") == error.message.count("mcp_two_") == 1
        assert not [each for server in servers for each in server.reached]
        for name, (server, bare) in origins(pool).items():
            assert (await door.execute(Call(name), ANN)).ok
            reached = servers[server == "two"].reached
            assert reached.pop().name == bare

    asyncio.run(calling())


@pytest.mark.plan(39)
def test_the_order_in_which_they_come_decides_nothing(servers: list[Server]):
    there, back = Pool(), Pool()
    there.add(*servers)
    for server in reversed(servers):
        random.Random(39).shuffle(listed := list(server.tools.items()))
        server.tools = dict(listed)
        back.add(server)
    assert origins(there) == origins(back)
    assert len(there.entries) == 2 * len(servers[0].tools)


@pytest.fixture
def colliding() -> list[Server]:
    """Servers whose ids and names, put together, are the same text."""
    said = [f"tool{number}" for number in range(amount(39, "names"))]
    return [Server("google", *(f"drive_{name}" for name in said)), Server("google_drive", *said)]


@pytest.mark.plan(39)
def test_a_text_that_two_names_make_is_nobodys_name(colliding: list[Server]):
    """Neither is called by it, and neither is lost: each has a name of its own."""
    longer, shorter = colliding
    pool = Pool()
    pool.add(*colliding)
    door = Door(pool, replace(POLICY, rulebook=rulebook(Rule("allow"))))
    assert len(pool.entries) == len(longer.tools) + len(shorter.tools)

    async def calling() -> None:
        for bare in shorter.tools:
            error = (await door.execute(Call(f"mcp_google_drive_{bare}"), ANN)).error
            assert error
            assert error.code in ("unknown_tool", "ambiguous_name")
        assert not longer.reached
        assert not shorter.reached
        for name, (server, bare) in origins(pool).items():
            assert (await door.execute(Call(name), ANN)).ok
            reached = (longer if server == "google" else shorter).reached
            assert reached.pop().name == bare

    asyncio.run(calling())


@pytest.mark.plan(39)
def test_who_comes_first_does_not_get_the_text_that_two_names_make(colliding: list[Server]):
    pools = [Pool(), Pool(), Pool()]
    pools[0].add(*colliding)
    pools[1].add(*reversed(colliding))
    for server in colliding:
        pools[2].add(server)
    assert origins(pools[0]) == origins(pools[1]) == origins(pools[2])
    assert not [name for name in pools[0].entries if name.endswith(tuple(colliding[1].tools))]
