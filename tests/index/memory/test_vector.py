from random import Random

import numpy as np
import pytest

from tests.catalogs import unit, vector_arm
from toolcrib.index.memory import vector
from toolcrib.model import Match, NameFilter, Variant

DIRECTIONS = {"a": [0, 1], "b": [1, 0], "c": [-1, 0]}
ARM = vector_arm({id: np.array(each, dtype=np.float32) for id, each in DIRECTIONS.items()})


def test_scores_are_cosines_above_zero():
    assert ARM.lookup(Variant("", vector=(1.0, 0.0))) == [Match("b", 1.0)]


def test_a_query_without_a_vector_finds_nothing():
    assert not ARM.lookup(Variant(""))


@pytest.mark.parametrize("share", [1.0, 0.5, 0.05])
def test_of_many_the_nearest_are_found_by_their_signs(
    share: float, monkeypatch: pytest.MonkeyPatch
):
    chance = Random(3)
    vectors = {f"{n:04}": unit(chance, 64) for n in range(2_000)}
    arm = vector_arm(vectors)
    seen = NameFilter.only(id for id in vectors if chance.random() < share)
    query = Variant("", vector=unit(chance, 64).tolist())
    whole = arm.lookup(query, limit=10, exclude=seen)
    monkeypatch.setattr(vector, "MOST_WHOLE", 100)
    monkeypatch.setattr(vector, "FEWEST_NEAREST", 300)
    found = arm.lookup(query, limit=10, exclude=seen)
    assert len(found) == 10
    assert all(match.id not in seen for match in found)
    assert len({m.id for m in whole} & {m.id for m in found}) >= 9
    assert found[0].id == whole[0].id
    everything = arm.lookup(query, exclude=seen)
    assert [m.id for m in everything[:10]] == [m.id for m in whole]
