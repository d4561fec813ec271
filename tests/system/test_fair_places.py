"""Places that callers share: nobody has all of them, and nobody waits behind one who has many."""

import asyncio

import pytest

from tests.waiting import let_pass_async, until_async
from toolcrib.system import FairPlaces


async def enter(places: FairPlaces, caller: str, times: int) -> list["asyncio.Task[None]"]:
    """As often as they want; those that are done have a place."""
    tasks = [asyncio.create_task(places.enter(caller)) for _ in range(times)]
    await let_pass_async(0.05)
    return tasks


def inside(tasks: list["asyncio.Task[None]"]) -> int:
    return sum(task.done() and not task.cancelled() for task in tasks)


def test_one_caller_has_half_and_the_next_half_of_what_is_left():
    async def go() -> list[int]:
        places = FairPlaces(8)
        tasks = [await enter(places, caller, 8) for caller in "abcde"]
        found = [inside(each) for each in tasks]
        for each in tasks:
            for task in each:
                task.cancel()
        return found

    assert asyncio.run(go()) == [4, 2, 1, 1, 0]


def test_a_place_alone_goes_round():
    async def go() -> None:
        places = FairPlaces(1)
        tasks = {each: await enter(places, each, 1) for each in "abc"}
        for caller, [task] in tasks.items():
            await until_async(task.done)
            places.leave(caller)
        await places.enter("a")

    asyncio.run(go())


def test_who_has_less_goes_first():
    async def go() -> None:
        places = FairPlaces(4)
        await enter(places, "greedy", 2)
        waiting = await enter(places, "greedy", 3)
        await enter(places, "other", 1)
        await enter(places, "third", 1)
        [fourth] = await enter(places, "fourth", 1)
        assert not inside(waiting)
        places.leave("greedy")
        await until_async(fourth.done)
        assert not inside(waiting)
        for each in waiting:
            each.cancel()

    asyncio.run(go())


def test_who_gives_up_takes_no_place():
    async def go() -> None:
        places = FairPlaces(1)
        await places.enter("one")
        [waiting] = await enter(places, "two", 1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        places.leave("one")
        await places.enter("three")

    asyncio.run(go())
