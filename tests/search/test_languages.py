import pytest

from toolcrib.search.languages import LEAST_SHARE, translation_weight


@pytest.mark.parametrize(
    ("share", "part"), [(1.0, 1.0), (0.5, 0.5), (0.0, 0.0), (LEAST_SHARE / 2, 0.0)]
)
def test_a_translation_counts_by_how_many_need_it(share: float, part: float):
    assert translation_weight(share) == part
