from typing import get_args

import pytest

from toolcrib.model import State, ToolInfo
from toolcrib.pool.entries import REMEDIES, state


@pytest.mark.parametrize(
    ("enabled", "here", "at_source", "expected"),
    [
        (True, True, "ready", "ready"),
        (True, True, "asleep", "asleep"),
        (True, True, "needs_login", "needs_login"),
        (True, False, "asleep", "other_platform"),
        (False, True, "ready", "disabled"),
        (False, False, "changed", "disabled"),
    ],
)
def test_disabled_comes_before_the_platform_and_that_before_the_source(
    enabled: bool, here: bool, at_source: State, expected: State
):
    tool = ToolInfo(name="x", description="", enabled=enabled, platform_available=here)
    assert state(tool, at_source) == expected


@pytest.mark.parametrize("each", get_args(State))
def test_every_state_but_ready_has_a_remedy(each: State):
    assert bool(REMEDIES[each]) == (each != "ready")
