import asyncio
import threading
from datetime import date
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tests.workshop import soon
from toolcrib.errors import BadArguments, NameTaken, UnknownTool
from toolcrib.model import Call, CallError, Outcome
from toolcrib.sources import FunctionSource, IncrementalSource
from toolcrib.sources.function_source import MOST_CHANGES, Description


class Point(BaseModel):
    x: int
    y: int = 0


class Colour(Enum):
    RED = "red"


def run(fn, **arguments) -> Outcome:
    source = FunctionSource()
    name = source.add(fn, name="fn").name
    return asyncio.run(source.call(Call(name, arguments), soon()))


def test_added_tools_are_listed_in_order_under_the_id_of_the_source():
    source = FunctionSource("weather")
    source.add(run, name="b")
    source.add(run, name="a")
    assert [(info.name, info.source_id) for info in source.capabilities()] == [
        ("b", "weather"),
        ("a", "weather"),
    ]


def test_a_name_is_given_once():
    source = FunctionSource()
    source.add(lambda: 1, name="one")
    with pytest.raises(NameTaken, match=r"'one'.*name="):
        source.add(lambda: 2, name="one")


def test_a_removed_tool_is_gone():
    source = FunctionSource()
    source.add(lambda: 1, name="one")
    source.remove("one")
    assert source.capabilities() == ()
    with pytest.raises(UnknownTool):
        source.remove("one")


def test_new_facts_take_the_place_of_old_ones_and_the_name_stays():
    source = FunctionSource("x")
    source.add(lambda: 1, name="one", category="numbers")
    info = source.describe("one", Description("x:", {"name": "two", "permission_kind": "read"}))
    assert info
    assert (info.name, info.permission_kind, info.category) == ("one", "read", "numbers")
    assert source.capabilities() == (info,)
    assert info.source_id == "x"


def test_a_description_waits_for_its_function():
    source = FunctionSource()
    assert source.describe("one", Description("f.yaml:1: one:", {"category": "numbers"})) is None
    assert source.capabilities() == ()
    assert [each.partition(" no ")[0] for each in source.problems] == ["f.yaml:1: one:"]
    info = source.add(lambda: 1, name="one", category="letters")
    assert (info.category, source.problems) == ("numbers", ())
    with pytest.raises(NameTaken, match=r"already, at f\.yaml:1"):
        source.describe("one", Description("g.yaml:1: one:", {}))
    source.remove("one")
    assert source.problems


def test_an_unknown_tool_is_refused_with_the_nearest_names():
    source = FunctionSource()
    source.add(lambda: 1, name="read_file")
    with pytest.raises(UnknownTool, match=r"'raed_file'.*search.*Nearest: read_file"):
        asyncio.run(source.call(Call("raed_file"), soon()))
    with pytest.raises(UnknownTool):
        source.state("raed_file")
    assert source.state("read_file") == "ready"


def test_arguments_arrive_as_the_types_that_the_function_asks_for():
    def fn(at: Point, day: date, place: Path, colour: Colour, numbers: tuple[int, ...]):
        assert (at, day, place) == (Point(x=1), date(2026, 3, 1), Path("x"))
        assert (colour, numbers) == (Colour.RED, (1, 2))
        return "all"

    outcome = run(fn, at={"x": 1}, day="2026-03-01", place="x", colour="red", numbers=[1, 2])
    assert outcome == Outcome("all")


def test_positional_only_parameters_and_open_keywords_are_passed():
    def fn(a: int, /, b: int, *, c: int = 3, **rest):
        return [a, b, c, rest]

    assert run(fn, a=1, b=2, p0=4).content == [1, 2, 3, {"p0": 4}]


def test_every_wrong_argument_is_named():
    def fn(path: str, limit: int = 1, at: Point | None = None): ...

    with pytest.raises(BadArguments, match=r"^fn: 'path': Field required; 'pth': Extra inputs"):
        run(fn, pth="x")
    with pytest.raises(BadArguments, match=r"'limit': .*integer.*not 'many'"):
        run(fn, path="x", limit="many")
    with pytest.raises(BadArguments, match=r"'at\.x': Field required"):
        run(fn, path="x", at={"y": 1})


def test_nothing_runs_when_arguments_are_wrong():
    ran: list[int] = []
    with pytest.raises(BadArguments):
        run(lambda: ran.append(1), extra=1)
    assert not ran


def test_a_plain_function_runs_in_a_thread_and_an_async_one_on_the_loop():
    async def on_loop():
        return threading.current_thread() is threading.main_thread()

    assert run(on_loop).content is True
    assert run(lambda: threading.current_thread() is threading.main_thread()).content is False


def test_a_callable_that_returns_an_awaitable_is_awaited():
    class Later:
        async def __call__(self):
            return "later"

    assert run(Later()).content == "later"


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("k"), OSError("gone")])
def test_what_a_tool_raises_is_its_outcome(error):
    def fn():
        raise error

    told = f"{type(error).__name__}: {error}"
    assert run(fn) == Outcome(error=CallError("tool_failed", "call", told, effect="failed"))


def test_a_stop_iteration_is_a_failure_and_not_the_end_of_waiting():
    failure = run(lambda: next(iter([]))).error
    assert failure
    assert failure.code == "tool_failed"


def test_results_become_json():
    def fn():
        return [
            Point(x=1),
            date(2026, 3, 1),
            Path("x"),
            Colour.RED,
            {1},
            (2,),
            float("nan"),
            {3: 4},
        ]

    assert run(fn).content == [
        {"x": 1, "y": 0}, "2026-03-01", "x", "red", [1], [2], None, {"3": 4},
    ]  # fmt: skip


def test_a_result_that_is_no_json_is_a_failure_that_says_the_tool_ran():
    failure = run(lambda: {"it": object()}).error
    assert failure
    assert (failure.code, failure.effect) == ("bad_result", "failed")
    assert "ran, but" in failure.message


def test_cancelling_a_call_is_not_swallowed():
    async def go() -> bool:
        begun = asyncio.Event()

        async def hang() -> None:
            begun.set()
            await asyncio.sleep(600)

        source = FunctionSource()
        source.add(hang, name="hang")
        task = asyncio.ensure_future(source.call(Call("hang"), soon()))
        await begun.wait()
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    assert asyncio.run(go())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(deadline=None)
@given(JSON)
def test_any_json_value_goes_through_an_untyped_parameter_unchanged(value):
    assert run(lambda value: value, value=value).content == value


def test_changes_are_told_by_name_as_long_as_they_are_remembered():
    source = FunctionSource()
    assert isinstance(source, IncrementalSource)
    start = source.revision()
    source.add(_named("a"))
    source.add(_named("b"))
    second = source.revision()
    assert source.changed_since(start) == {"a", "b"}
    source.remove("a")
    source.describe("b", Description("tools.yaml:1", {"description": "B"}))
    with pytest.raises(NameTaken):
        source.add_several([_named("c"), _named("b")], {})
    assert source.changed_since(second) == {"a", "b", "c"}
    assert (source.capability("a"), source.capability("c")) == (None, None)
    assert (source.capability("b"),) == source.capabilities()
    assert source.changed_since(source.revision()) == set()
    for _ in range(MOST_CHANGES):
        source.add(_named("d"))
        source.remove("d")
    assert source.changed_since(second) is None


def _named(name):
    def function() -> None: ...

    function.__name__ = name
    return function
