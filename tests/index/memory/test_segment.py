from toolcrib.index.memory.segment import (
    Postings,
    Segment,
    SegmentRow,
    build_postings,
    changed_postings,
)


def as_lists(postings: Postings) -> dict[str, tuple[list[int], list[float]]]:
    return {term: (p.rows.tolist(), p.weights.tolist()) for term, p in postings.items()}


FIRST = build_postings([(0, {"read": 4.0, "file": 1.0}), (1, {"read": 2.0}), (2, {"map": 1.0})])


def test_each_term_has_its_rows_and_their_weights():
    assert as_lists(FIRST) == {
        "read": ([0, 1], [4.0, 2.0]),
        "file": ([0], [1.0]),
        "map": ([2], [1.0]),
    }


def test_rows_stay_in_order_when_some_are_put_in():
    later = changed_postings(
        FIRST, {1: {"read": 2.0}}, {1: {"read": 9.0, "map": 5.0}, 3: {"new": 1.0}}
    )
    assert as_lists(later) == {
        "read": ([0, 1], [4.0, 9.0]),
        "file": ([0], [1.0]),
        "map": ([1, 2], [5.0, 1.0]),
        "new": ([3], [1.0]),
    }


def test_a_term_without_rows_is_gone():
    assert "map" not in changed_postings(FIRST, {2: {"map": 1.0}}, {})


def test_what_is_not_touched_is_shared_and_the_old_one_stays():
    before = as_lists(FIRST)
    later = changed_postings(FIRST, {0: {"file": 1.0}}, {0: {"file": 2.0}})
    assert later["read"] is FIRST["read"]
    assert as_lists(FIRST) == before


A, B, C, D = (
    SegmentRow(key, {"read": 1.0, key: 2.0}, length) for length, key in enumerate("abcd", 1)
)


def test_rows_come_in_their_order():
    segment = Segment.of([A, B])
    assert segment.keys == ["a", "b"]
    assert segment.lengths.tolist() == [1.0, 2.0]
    assert segment.row_of == {"a": 0, "b": 1}
    assert segment.postings["read"].rows.tolist() == [0, 1]


def test_a_segment_of_nothing_can_grow():
    segment = Segment.of([]).changed([], [A])
    assert segment.keys == ["a"]
    assert segment.lengths.tolist() == [1.0]


def test_a_row_that_leaves_is_free_and_the_next_takes_it():
    without = Segment.of([A, B, C]).changed([A], [])
    assert without.keys == ["", "b", "c"]
    assert without.lengths.tolist() == [0.0, 2.0, 3.0]
    assert without.row_of == {"b": 1, "c": 2}
    refilled = without.changed([], [D])
    assert refilled.keys == ["d", "b", "c"]
    assert refilled.postings["d"].rows.tolist() == [0]


def test_a_change_takes_the_place_of_what_it_replaces():
    segment = Segment.of([A, B]).changed([A], [SegmentRow("a", {"write": 1.0}, 7)])
    assert segment.keys == ["a", "b"]
    assert segment.lengths.tolist() == [7.0, 2.0]
    assert segment.postings["read"].rows.tolist() == [1]
    assert segment.postings["write"].rows.tolist() == [0]


def test_more_rows_than_are_free_go_to_the_end():
    segment = Segment.of([A, B]).changed([A], [C, D])
    assert segment.keys == ["c", "b", "d"]


def test_the_old_segment_stays_as_it_is():
    segment = Segment.of([A, B])
    segment.changed([A, B], [C])
    assert segment.keys == ["a", "b"]
    assert segment.lengths.tolist() == [1.0, 2.0]
    assert segment.postings["a"].rows.tolist() == [0]
