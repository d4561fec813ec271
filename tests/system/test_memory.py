"""Memory: what nobody reaches is freed, and what stays is not looked through each time."""

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

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
