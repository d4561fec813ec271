"""What a search reveals is bounded in number and in tokens, and its best hit is always there."""

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.model import Answer, Hit, State, ToolInfo
from toolcrib.session.reveals import round_robin, to_reveal
from toolcrib.text import estimate_tokens, tool_definition


def hit(name: str, state: State = "ready") -> Hit:
    return Hit(name, "tool", "mcp", "s", state, "", 1.0, "", "read")


def answer(query: str, *hits: str) -> Answer:
    return Answer(query, tuple(hit(each) for each in hits))


def deferred(names: str, size: int = 40) -> dict[str, ToolInfo]:
    return {name: ToolInfo(name=name, description="x" * size) for name in names}


def reveal(*answers: Answer, most: int = 8, tokens: int = 1_500, size: int = 40, known: str = ""):
    return to_reveal(answers, deferred("abcdefgh", size), known, most=most, tokens=tokens)


def test_the_best_of_each_query_come_first():
    answers = answer("x", "a", "b", "c"), answer("y", "d", "a")
    assert [each.name for each in round_robin(answers)] == ["a", "d", "b", "c"]
    assert reveal(*answers, most=2) == ["a", "d"]


def test_beyond_the_tokens_only_the_best():
    assert reveal(answer("x", "a", "b", "c"), size=9_000) == ["a"]
    assert reveal(answer("x", "a", "b"), answer("y", "c", "d"), size=9_000) == ["a", "c"]


def test_what_is_selected_by_name_is_revealed_whatever_it_costs():
    assert reveal(answer("select:a,b,c", "a", "b", "c"), size=9_000) == ["a", "b", "c"]


def test_the_best_of_each_part_of_a_task_is_revealed_whatever_it_costs():
    # In such an answer the whole task, its first part and its second part take turns.
    task = answer("read the page and send the message", "a", "b", "c", "d")
    assert reveal(task, size=9_000) == ["a", "b", "c"]
    assert reveal(answer("read the page", "a", "b", "c"), size=9_000) == ["a"]


def test_places_go_to_the_best_of_each_need_first():
    task = answer("read the page, send the message and delete the file", "a", "b", "c", "d")
    assert reveal(task, answer("y", "e", "f", "g"), most=4) == ["a", "e", "b", "c"]


def test_each_part_of_a_task_has_its_tokens():
    one, two = answer("read it", *"abcde"), answer("read it and send it", *"abcde")
    price = estimate_tokens(tool_definition(deferred("a")["a"]))
    assert reveal(one, tokens=2 * price) == ["a", "b"]
    assert reveal(two, tokens=2 * price) == ["a", "b", "c", "d"]


def test_a_small_one_behind_a_large_one_still_fits():
    tools = deferred("ac") | deferred("b", 9_000)
    found = to_reveal([answer("x", "a", "b", "c")], tools, (), most=8, tokens=1_500)
    assert found == ["a", "c"]


def test_what_is_there_already_takes_no_place():
    assert reveal(answer("x", "a", "b", "c"), most=1, known="a") == ["b"]
    assert reveal(answer("x", "z", "b"), most=1) == ["b"]


def test_what_cannot_be_called_now_is_not_revealed():
    answers = [Answer("x", (hit("a", "needs_login"), hit("b", "changed"), hit("c", "asleep")))]
    assert to_reveal(answers, deferred("abc"), (), most=8, tokens=1_500) == ["c"]


QUERIES = st.lists(st.lists(st.sampled_from("abcdefghz"), unique=True, max_size=8), max_size=4)


@given(QUERIES, st.integers(0, 8), st.integers(0, 200), st.sets(st.sampled_from("abc")))
def test_the_bounds_hold(drawn: list[list[str]], most: int, tokens: int, known: set[str]):
    answers = [answer(str(number), *hits) for number, hits in enumerate(drawn)]
    chosen = to_reveal(answers, deferred("abcdefgh"), known, most=most, tokens=tokens)
    assert len(chosen) <= most
    assert len(set(chosen)) == len(chosen)
    assert known.isdisjoint(chosen)
    assert "z" not in chosen
