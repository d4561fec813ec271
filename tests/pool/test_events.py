import pytest

from toolcrib.model import Entry, ToolInfo
from toolcrib.pool import TOOLS_UPDATED, EventBus, ToolsUpdated

ENTRY = Entry("x", "x", ToolInfo(name="x", description=""))
NEWS = ToolsUpdated(added=(ENTRY,), changed=(), removed=())


def test_whoever_subscribed_is_told_in_the_order_of_subscribing():
    bus, heard = EventBus(), []
    bus.subscribe(TOOLS_UPDATED, lambda news: heard.append(("first", news)))
    bus.subscribe(TOOLS_UPDATED, lambda news: heard.append(("second", news)))
    bus.publish(TOOLS_UPDATED, NEWS)
    assert heard == [("first", NEWS), ("second", NEWS)]


def test_whoever_has_enough_is_told_no_more():
    bus, heard = EventBus(), []
    end = bus.subscribe(TOOLS_UPDATED, heard.append)
    bus.publish(TOOLS_UPDATED, NEWS)
    end()
    bus.publish(TOOLS_UPDATED, NEWS)
    assert heard == [NEWS]


def test_a_listener_may_leave_while_it_is_told_and_the_others_hear_all_the_same():
    bus, heard = EventBus(), []
    end = bus.subscribe(TOOLS_UPDATED, lambda _news: end())
    bus.subscribe(TOOLS_UPDATED, heard.append)
    bus.publish(TOOLS_UPDATED, NEWS)
    assert heard == [NEWS]


def test_a_listener_that_raises_is_heard_of():
    bus, heard = EventBus(), []

    def broken(_news: ToolsUpdated) -> None:
        raise RuntimeError("no room")

    bus.subscribe(TOOLS_UPDATED, broken)
    bus.subscribe(TOOLS_UPDATED, heard.append)
    with pytest.raises(RuntimeError, match="no room"):
        bus.publish(TOOLS_UPDATED, NEWS)
    assert not heard


def test_two_buses_know_nothing_of_each_other():
    one, other = EventBus(), EventBus()
    heard: list[ToolsUpdated] = []
    one.subscribe(TOOLS_UPDATED, heard.append)
    other.publish(TOOLS_UPDATED, NEWS)
    assert not heard


def test_news_are_true_if_anything_changed():
    assert ToolsUpdated((ENTRY,), (), ())
    assert ToolsUpdated((), (ENTRY,), ())
    assert ToolsUpdated((), (), (ENTRY,))
    assert not ToolsUpdated((), (), ())
