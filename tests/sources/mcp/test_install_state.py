from concurrent.futures import ThreadPoolExecutor

from tests.sources.mcp.faking import stores_in
from toolcrib.sources.mcp.trust import open_install_state
from toolcrib.store import Decisions

SEEN = {"a": ("pin", "{}")}


def opened(folder):
    return open_install_state(stores_in(folder))


def closed(state):
    state.decisions.close()
    return state


def test_a_first_start_trusts_first_sight(tmp_path):
    state = opened(tmp_path / "state")
    assert state.problems == ()
    assert state.decisions.trusts_first_sight
    state.decisions.close()
    again = closed(opened(tmp_path / "state"))
    assert (again.key, again.problems) == (state.key, ())


def test_a_start_that_was_cut_short_before_the_key_is_no_loss(tmp_path):
    closed(opened(tmp_path))
    for name in ("install.key", "decisions.db", "decisions.counter"):
        (tmp_path / name).unlink()
    Decisions.prepare(tmp_path / "decisions.db")
    assert closed(opened(tmp_path)).problems == ()


def test_a_file_that_is_gone_is_a_loss_until_it_is_reviewed(tmp_path):
    closed(opened(tmp_path))
    (tmp_path / "decisions.db").unlink()
    for _ in range(2):
        (problem,) = closed(opened(tmp_path)).problems
        assert "toolcrib review" in problem


def test_many_first_starts_at_once_agree(tmp_path):
    with ThreadPoolExecutor(8) as threads:
        states = list(threads.map(opened, [tmp_path] * 16))
    assert len({state.key for state in states}) == 1
    assert {state.problems for state in states} == {()}
    states[0].decisions.trust("mcp:x", SEEN)
    assert all(state.decisions.of("mcp:x")["a"].approved for state in states)
    for state in states:
        state.decisions.close()
