"""The clock of a call stands still while it asks."""

import asyncio
import time

from toolcrib.model import InputRequest
from toolcrib.system import CallClock, deadline, done_in_time

ASKED = {"a": InputRequest("roots/list", {})}


async def reply(_asked):
    return {"a": {"roots": []}}


def test_a_reply_is_handed_on_and_its_time_is_counted():
    async def slow(asked):
        await asyncio.sleep(0.05)
        return await reply(asked)

    async def test():
        one = CallClock(slow)
        replies = await asyncio.gather(one.ask(ASKED), one.ask(ASKED))
        return replies, one.spent_s, one.spent_s

    replies, spent, after = asyncio.run(test())
    assert replies == [{"a": {"roots": []}}] * 2
    assert spent >= 0.05
    assert spent == after


def test_whoever_does_not_reply_in_time_has_not_replied(monkeypatch):
    monkeypatch.setattr(deadline, "REPLY_S", 0.05)
    given_up = []

    async def never(_asked):
        try:
            await asyncio.sleep(60)
        finally:
            given_up.append(True)
        return {}

    async def test():
        replied = await CallClock(never).ask(ASKED)
        await asyncio.sleep(0)
        return replied

    assert asyncio.run(test()) == {}
    assert given_up == [True]


def test_who_cannot_be_asked_does_not_reply(caplog):
    async def broken(_asked):
        raise ValueError("no screen")

    assert asyncio.run(CallClock(broken).ask(ASKED)) == {}
    assert "no screen" in caplog.text


def test_what_is_taken_back_is_not_replied_to():
    asked = asyncio.Event()

    async def never(_asked):
        asked.set()
        await asyncio.sleep(60)
        return {}

    async def test():
        one = CallClock(never)
        asking = asyncio.ensure_future(one.ask(ASKED))
        await asked.wait()
        one.close()
        return await asking

    assert asyncio.run(test()) == {}


def test_a_tool_that_asks_without_end_is_heard_no_more():
    async def test():
        one = CallClock(reply)
        return [bool(await one.ask(ASKED)) for _ in range(deadline.MOST_QUESTIONS + 1)]

    assert asyncio.run(test()) == [True] * deadline.MOST_QUESTIONS + [False]


def test_a_deadline_moves_on_while_somebody_is_asked():
    async def slow(asked):
        await asyncio.sleep(1.5)
        return await reply(asked)

    async def test(ask_first):
        one, until = CallClock(slow), time.monotonic() + 1

        async def work():
            if ask_first:
                await one.ask(ASKED)
            else:
                await asyncio.sleep(60)

        task = asyncio.ensure_future(work())
        done = await done_in_time(task, lambda: until + one.spent_s - time.monotonic())
        task.cancel()
        return done

    assert asyncio.run(test(ask_first=True))
    assert not asyncio.run(test(ask_first=False))
