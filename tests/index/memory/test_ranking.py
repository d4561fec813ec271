import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.index.memory.ranking import ScoreBoard, rank_rows
from toolcrib.index.memory.rows import RowColumn
from toolcrib.model import Match


@given(
    scores=st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0]), max_size=20),
    limit=st.none() | st.integers(0, 25),
)
def test_it_is_a_sort_by_score_and_id(scores: list[float], limit: int | None):
    ids = [f"id{7 * row % 20:02}" for row in range(len(scores))]
    whole = sorted(
        (Match(id, score) for id, score in zip(ids, scores, strict=True)),
        key=lambda match: (-match.score, match.id),
    )
    rows = np.arange(len(scores))
    assert list(rank_rows(ids.__getitem__, rows, np.array(scores), limit)) == whole[:limit]


@pytest.mark.parametrize("limit", [None, 0, 3])
def test_no_rows_are_an_empty_ranking(limit: int | None):
    assert not rank_rows(str, np.array([], np.int32), np.array([]), limit)


def test_a_board_is_clean_for_each_lookup():
    board = ScoreBoard()
    scores = board.take(32)
    scores[[1, 2]] = 5.0
    board.give_back(scores, [np.array([1, 2], np.int32)])
    for rows in (33, 4, 34, 64):
        again = board.take(rows)
        assert len(again) == rows
        assert not again.any()
        again[:] = 1.0
        board.give_back(again, [np.arange(rows)])


def test_a_board_that_was_not_given_back_is_not_given_again():
    board = ScoreBoard()
    assert not np.shares_memory(board.take(4), board.take(4))


@given(
    stored=st.lists(st.integers(0, 9), max_size=6), added=st.lists(st.integers(0, 9), max_size=6)
)
def test_a_column_says_what_one_of_all_rows_would(stored: list[int], added: list[int]):
    column = RowColumn(np.array(stored, np.int32), np.array(added, np.int32))
    whole = [*stored, *added]
    assert len(column) == len(whole)
    assert column.every.tolist() == whole
    for rows in ([], range(len(whole)), range(0, len(whole), 2), range(len(stored), len(whole))):
        chosen = np.array(list(rows), np.int32)
        assert column.of(chosen).tolist() == [whole[row] for row in rows]
