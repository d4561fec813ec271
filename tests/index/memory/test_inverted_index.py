from toolcrib.index.memory.inverted_index import Postings, build_postings, changed_postings


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
