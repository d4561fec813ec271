"""A call is kept to its deadline, which is paused while it asks."""

import asyncio

from tests.waiting import HANG_S
from toolcrib.model import Deadline, InputRequest
from toolcrib.system import (
    CallQuestions,
    DeadlineTimer,
    deadline,
    deadline_passed,
    done_in_time,
)

ASKED = {"a": InputRequest("roots/list", {})}


async def reply(_asked):
    return {"a": {"roots": []}}


def questions(ask, limit_s: float = 60.0) -> CallQuestions:
    return CallQuestions(ask, Deadline(limit_s))


def test_nobody_knows_what_became_of_a_call_that_is_late():
    late = deadline_passed(Deadline(7))
    assert (late.code, late.effect, late.retryable) == ("deadline", "unknown", False)
    assert "7 s" in late.message


def test_a_reply_is_handed_on_and_meanwhile_the_deadline_is_paused():
    limit = Deadline(1_000)

    async def look(requests):
        left = limit.left_s
        await asyncio.sleep(0)
        assert limit.left_s == left
        return await reply(requests)

    async def test():
        one = CallQuestions(look, limit)
        return await asyncio.gather(one.ask(ASKED), one.ask(ASKED))

    assert asyncio.run(test()) == [{"a": {"roots": []}}] * 2


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
        replied = await questions(never).ask(ASKED)
        await asyncio.sleep(0)
        return replied

    assert asyncio.run(test()) == {}
    assert given_up == [True]


def test_who_cannot_be_asked_does_not_reply(caplog):
    async def broken(_asked):
        raise ValueError("no screen")

    assert asyncio.run(questions(broken).ask(ASKED)) == {}
    assert "no screen" in caplog.text


def test_what_is_taken_back_is_not_replied_to():
    asked = asyncio.Event()

    async def never(_asked):
        asked.set()
        await asyncio.sleep(60)
        return {}

    async def test():
        one = questions(never)
        asking = asyncio.ensure_future(one.ask(ASKED))
        await asked.wait()
        one.close()
        return await asking

    assert asyncio.run(test()) == {}


def test_a_tool_that_asks_without_end_is_heard_no_more():
    async def test():
        one = questions(reply)
        return [bool(await one.ask(ASKED)) for _ in range(deadline.MOST_QUESTIONS + 1)]

    assert asyncio.run(test()) == [True] * deadline.MOST_QUESTIONS + [False]


def test_a_timer_ends_what_is_late_and_nothing_else():
    async def test(seconds, *, is_endless):
        try:
            with DeadlineTimer(Deadline(seconds)):
                await (asyncio.Event().wait() if is_endless else asyncio.sleep(0))
        except TimeoutError:
            await asyncio.sleep(0)  # the task itself goes on
            return "late"
        return "done"

    assert asyncio.run(test(0.05, is_endless=True)) == "late"
    assert asyncio.run(test(0, is_endless=True)) == "late"
    assert asyncio.run(test(HANG_S, is_endless=False)) == "done"


def test_a_timer_moves_on_while_its_deadline_is_paused():
    async def test():
        limit = Deadline(0.1)
        with DeadlineTimer(limit), limit.pause():
            await asyncio.sleep(0.4)
        return "done"

    assert asyncio.run(test()) == "done"


def test_whoever_is_cancelled_before_the_deadline_is_cancelled():
    async def test():
        async def work():
            with DeadlineTimer(Deadline(60)):
                await asyncio.sleep(60)

        task = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    assert asyncio.run(test())


def test_of_two_timers_the_first_says_that_it_was_late():
    async def test():
        with DeadlineTimer(Deadline(60)):
            try:
                with DeadlineTimer(Deadline(0.05)):
                    await asyncio.sleep(60)
            except TimeoutError:
                return "inner"
        return "none"

    assert asyncio.run(test()) == "inner"


def test_a_deadline_moves_on_while_somebody_is_asked():
    async def slow(asked):
        await asyncio.sleep(1.5)
        return await reply(asked)

    async def test(ask_first):
        limit = Deadline(1)
        one = CallQuestions(slow, limit)

        async def work():
            if ask_first:
                await one.ask(ASKED)
            else:
                await asyncio.sleep(60)

        task = asyncio.ensure_future(work())
        done = await done_in_time(task, limit)
        task.cancel()
        return done

    assert asyncio.run(test(ask_first=True))
    assert not asyncio.run(test(ask_first=False))
