import numpy as np

from toolcrib.index.memory.vector import Vector
from toolcrib.model import Match, Variant

DIRECTIONS = {"a": [0, 1], "b": [1, 0], "c": [-1, 0]}
ARM = Vector.of({id: np.array(each, dtype=np.float32) for id, each in DIRECTIONS.items()})


def test_scores_are_cosines_above_zero():
    assert ARM.lookup(Variant("", vector=(1.0, 0.0))) == [Match("b", 1.0)]


def test_a_query_without_a_vector_finds_nothing():
    assert not ARM.lookup(Variant(""))
