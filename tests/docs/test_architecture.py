"""The picture of the stages is fresh, tells of packages that there are, and can be read."""

from itertools import combinations
from pkgutil import iter_modules

import pytest

import toolcrib
from scripts.architecture_picture import (
    ARROWS,
    BOXES,
    HEIGHT,
    PICTURE,
    TEXT_PX,
    WIDE,
    WIDTH,
    Arrow,
    Box,
    drawn,
)


def test_the_picture_is_fresh():
    assert PICTURE.read_text(encoding="utf-8") == drawn(), "run scripts/architecture_picture.py"


def test_every_stage_is_a_package():
    packages = {module.name for module in iter_modules(toolcrib.__path__)}
    assert [box.package for box in BOXES if box.package not in packages] == []


@pytest.mark.parametrize("box", BOXES, ids=lambda box: box.title)
def test_its_words_fit_into_a_box_that_is_in_the_picture(box: Box):
    assert max(map(len, box.lines)) * TEXT_PX * WIDE <= box.width
    assert 44 + 18 * (len(box.lines) - 1) < box.height
    assert 0 <= box.x <= WIDTH - box.width
    assert 0 <= box.y <= HEIGHT - box.height


def test_no_box_lies_on_another():
    for one, other in combinations(BOXES, 2):
        beside = one.x + one.width <= other.x or other.x + other.width <= one.x
        assert beside or one.y + one.height <= other.y or other.y + other.height <= one.y


@pytest.mark.parametrize("arrow", ARROWS, ids=lambda arrow: f"{arrow.flow} {arrow.points[0]}")
def test_an_arrow_goes_from_one_box_to_another(arrow: Arrow):
    ends = [arrow.points[0], *([arrow.points[-1]] if arrow.tip else [])]
    assert all(any(_is_at_the_edge(end, box) for box in BOXES) for end in ends)


def _is_at_the_edge(point: tuple[int, int], box: Box) -> bool:
    x, y = point
    on_side = x in {box.x, box.x + box.width} and box.y <= y <= box.y + box.height
    return on_side or (y in {box.y, box.y + box.height} and box.x <= x <= box.x + box.width)
