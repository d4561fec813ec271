"""Memory: what nobody reaches is freed, and what stays is not looked through each time."""

import gc
import sys
from collections.abc import Iterator
from threading import Event, Thread
from types import FrameType
from weakref import ref

import pytest

from tests.waiting import HANG_S
from toolcrib.system import Collector


class Node:
    itself: object


def ring() -> Node:
    node = Node()
    node.itself = node
    return node


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Nothing is collected but by the tests."""
    gc.collect()
    gc.disable()
    collector = Collector()
    collector.start()
    yield collector
    collector.stop()
    gc.enable()


def test_a_ring_of_later_is_freed_by_the_next_collection(collector: Collector):
    node = ring()
    seen = ref(node)
    del node
    gc.collect()
    assert seen() is None


def test_what_outlived_a_collection_is_not_looked_through_until_all_is(collector: Collector):
    node = ring()
    seen = ref(node)
    gc.collect()
    assert not gc.get_objects(generation=2)
    del node
    gc.collect()
    assert seen()
    collector.collect()
    assert seen() is None
    assert not gc.get_objects(generation=2)


def test_a_collection_of_the_young_sets_nothing_aside(collector: Collector):
    node = ring()
    seen = ref(node)
    gc.collect(1)
    del node
    gc.collect()
    assert seen() is None


def test_once_there_is_half_as_much_again_all_is_looked_through(collector: Collector):
    node = ring()
    seen = ref(node)
    gc.collect()
    del node
    many = [[number] for number in range(gc.get_freeze_count())]
    gc.collect()
    assert seen()
    gc.collect()
    assert seen() is None
    assert not gc.get_objects(generation=2)
    assert many


def test_another_thread_can_finish_its_tuple_at_any_step(collector: Collector):
    """A tuple that is being filled must have one owner, or its thread gets a `SystemError`."""
    begun, go_on = Event(), Event()
    made = list[object]()

    def numbers() -> Iterator[int]:
        yield from range(5)
        begun.set()
        go_on.wait(HANG_S)
        yield from range(95)

    def fill() -> None:
        try:
            made.append(len(tuple(numbers())))
        except SystemError as error:
            made.append(error)

    filling = Thread(target=fill)

    def after_each_step(_frame: FrameType, event: str, _: object) -> None:
        if event == "c_return" and not go_on.is_set():
            go_on.set()
            filling.join(HANG_S)

    filling.start()
    assert begun.wait(HANG_S)
    sys.setprofile(after_each_step)
    try:
        gc.collect()
    finally:
        sys.setprofile(None)
    assert made == [100]
