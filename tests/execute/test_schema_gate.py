"""Schemas of strangers."""

import json
import random
import socket
import threading
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plan import amount
from toolcrib.execute.schema_gate import (
    MOST_BYTES,
    MOST_DEPTH,
    MOST_NODES,
    MOST_PATTERNS,
    SchemaCheck,
    SchemaRefused,
    compile_schema,
)


def refused(schema: Any) -> str:
    with pytest.raises(SchemaRefused) as caught:
        compile_schema(schema)
    return str(caught.value)


@pytest.fixture
def canary() -> Generator[tuple[int, list[object]]]:
    """A port, and whoever knocked there."""
    knocks: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        done = threading.Event()

        def listen() -> None:
            while not done.is_set():
                try:
                    knocks.append(server.accept()[1])
                except TimeoutError:
                    continue

        thread = threading.Thread(target=listen)
        thread.start()
        yield server.getsockname()[1], knocks
        done.set()
        thread.join()


def test_a_check_tells_what_fits_and_what_does_not():
    check = compile_schema(
        {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    )
    assert check.fits({"n": 1})
    assert not check.fits({"n": "x"})
    assert check.problem({"n": 1}) is None
    problem = check.problem({"n": "x"})
    assert problem
    assert problem.path == "$.n"


def test_a_problem_names_the_place_and_is_short():
    items = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    check = compile_schema({"properties": {"list": items}})
    problem = check.problem({"list": [{}, {"a": "x" * 10_000}]})
    assert problem
    assert problem.path == "$.list[1].a"
    assert len(problem.message) < 400


@pytest.mark.parametrize("draft", ["draft-04/schema#", "draft-07/schema#"])
def test_older_drafts_are_understood(draft: str):
    schema = {"$schema": f"http://json-schema.org/{draft}", "definitions": {"a": {"type": "null"}}}
    check = compile_schema({**schema, "properties": {"a": {"$ref": "#/definitions/a"}}})
    assert check.fits({"a": None})
    assert not check.fits({"a": 1})


def test_a_schema_that_refers_to_itself_is_fine():
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}
    check = compile_schema({**tree, "additionalProperties": False, "$id": "http://elsewhere/tree"})
    assert check.fits({"left": {"left": {}, "right": {}}})
    assert not check.fits({"left": {"middle": {}}})


@pytest.mark.plan(29)
@pytest.mark.parametrize(
    "reference",
    [
        "http://127.0.0.1:{port}/x",
        "https://127.0.0.1:{port}/x#/a",
        "//127.0.0.1:{port}/x",
        "file:///etc/passwd",
        "other.json",
        "#anchor",
        "urn:x",
    ],
)
@pytest.mark.parametrize("place", ["root", "inside", "definitions", "dynamic", "address", "unused"])
def test_nothing_leads_out_of_a_schema(reference: str, place: str, canary):
    port, knocks = canary
    to = reference.format(port=port)
    schema = {
        "root": {"$ref": to},
        "inside": {"properties": {"a": {"anyOf": [{"$ref": to}]}}},
        "definitions": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": to}}},
        "dynamic": {"properties": {"a": {"$dynamicRef": to}}},
        "address": {"$defs": {"a": {"$id": to, "$ref": "#/x"}}},
        "unused": {"x-other": {"$ref": to}},
    }[place]
    assert refused(schema)
    assert not knocks


@pytest.mark.plan(29)
def test_a_meta_schema_from_elsewhere_is_not_fetched(canary):
    port, knocks = canary
    assert refused({"$schema": f"http://127.0.0.1:{port}/meta"})
    assert not knocks


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"description": "x" * MOST_BYTES}, "bytes"),
        (nested(MOST_DEPTH + 1), "deep"),
        (nested(5_000), ""),
        ({"anyOf": [{} for _ in range(MOST_NODES + 1)]}, "parts"),
        ({"anyOf": [{"pattern": f"a{n}"} for n in range(MOST_PATTERNS + 1)]}, "patterns"),
        ({"type": "nonsense"}, "not valid JSON Schema"),
        ({"$ref": "#/nowhere"}, "where no schema is"),
        ({"$ref": "#/allOf/00", "allOf": [{}]}, "where no schema is"),
        ({"$ref": "#/$defs/%C3", "$defs": {"\xc3": {}}}, "where no schema is"),
        ({"minimum": float("nan")}, "not JSON"),
        ({"enum": {1, 2}}, "not JSON"),
    ],
)
def test_a_schema_out_of_bounds_is_refused_with_the_reason(schema, why: str):
    assert why in refused(schema)


def test_a_schema_within_bounds_is_taken():
    assert compile_schema(nested(MOST_DEPTH))
    assert compile_schema({"anyOf": [{} for _ in range(MOST_NODES - 1)]})


@pytest.mark.plan(28)
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(.*)*x"])
def test_a_pattern_takes_linear_time(pattern: str):
    """Whoever backtracks here never ends."""
    check = compile_schema({"properties": {"a": {"pattern": pattern}}})
    assert not check.fits({"a": "a" * 50_000 + "!"})


def test_a_pattern_is_held():
    check = compile_schema({"properties": {"a": {"pattern": "^\\d+$"}}})
    assert check.fits({"a": "12"})
    assert not check.fits({"a": "x"})


@pytest.mark.parametrize("pattern", ["(?=a)b", "(a)\\1", "(a{1000}){1000}", "("])
def test_a_pattern_that_the_engine_does_not_take_is_left_out_and_the_rest_is_held(pattern: str):
    plain = {"a": {"type": "string", "pattern": pattern}, "pattern": {"type": "integer"}}
    check = compile_schema({"properties": plain, "patternProperties": {pattern: {"type": "null"}}})
    assert check.fits({"a": "anything", "pattern": 1})
    assert not check.fits({"a": 1})
    assert not check.fits({"pattern": "x"})


def doubling(steps: int, at: str = "#/$defs/d") -> dict[str, Any]:
    """Each definition names the next one twice."""
    definitions: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"{at}{n + 1}"}, {"$ref": f"{at}{n + 1}"}]}
        for n in range(steps)
    }
    return {"$ref": f"{at}0", "$defs": {**definitions, f"d{steps}": {"type": "object"}}}


def too_long(check: SchemaCheck, value: Any) -> bool:
    """Whether it is refused for that; whoever tries it nevertheless never ends."""
    with pytest.raises(SchemaRefused, match="too long"):
        check.fits(value)
    return True


@pytest.mark.parametrize("at", ["#/$defs/d", "#/%24defs/d", "#/%24defs/%64", "#%24defs/d"])
def test_definitions_that_double_are_not_run(at: str):
    if not at.startswith("#/"):
        assert "only #/" in refused(doubling(40, at))
        return
    assert compile_schema(doubling(10, at)).fits({})
    assert too_long(compile_schema(doubling(40, at)), {})


@pytest.mark.parametrize(
    "inner",
    [
        {"$id": "http://x/"},
        {"id": "http://x/"},
        {"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://x/"},
        {"$dynamicRef": "#/definitions/a"},
        {"$recursiveRef": "#"},
    ],
    ids="-".join,
)
@pytest.mark.parametrize("draft", ["http://json-schema.org/draft-04/schema#", ""])
def test_an_address_within_moves_no_reference(inner: dict[str, Any], draft: str):
    """Of a part with an address of its own, `#/definitions/a` is not what the meter looks at."""
    part = {**inner, "definitions": {"a": {"enum": [2]}}, "allOf": [{"$ref": "#/definitions/a"}]}
    schema: dict[str, Any] = {"definitions": {"a": {"enum": [1]}}, "allOf": [part]}
    if draft:
        schema["$schema"] = draft
    if draft or inner.keys() != {"id"}:
        assert "not followed" in refused(schema)
    else:
        assert compile_schema(schema).fits(1)  # "id" is a word like any other since


@pytest.mark.parametrize("pattern", ["[ab]*a[ab]{200}z", "[ab]*a[ab]{400}z"])
def test_a_pattern_of_many_states_is_not_run_on_a_long_text(pattern: str):
    check = compile_schema({"pattern": pattern})
    assert not check.fits("ab" * 500)
    with pytest.raises(SchemaRefused, match="too long"):
        check.fits("ab" * 500_000)


def test_a_plain_pattern_is_run_on_a_long_text():
    assert compile_schema({"pattern": "^[A-Za-z0-9+/]*={0,2}$"}).fits("ab" * 500_000)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
    ],
)
def test_a_check_that_never_ends_is_not_begun(schema):
    assert too_long(compile_schema(schema), {})


def test_recursion_that_doubles_at_every_level_is_not_run():
    twice = {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}
    deep: dict[str, Any] = {}
    for _ in range(60):
        deep = {"a": deep}
    check = compile_schema({"properties": {"a": twice}})
    assert check.fits({"a": {"a": {}}})
    assert too_long(check, deep)


def bombs(seed: int, count: int) -> Iterator[Any]:
    chance = random.Random(seed)
    kinds = [
        lambda: nested(chance.randrange(200)),
        lambda: doubling(chance.randrange(60)),
        lambda: {"$ref": chance.choice(["#", "#/", "#/a/b", "http://127.0.0.1:1/", "file:///x"])},
        lambda: {"pattern": "(a*)*" * chance.randrange(20)},
        lambda: {"pattern": f"(x{{{chance.randrange(2_000)}}}){{{chance.randrange(2_000)}}}"},
        lambda: {
            "properties": {str(n): {"type": "string"} for n in range(chance.randrange(3_000))}
        },
        lambda: {"enum": list(range(chance.randrange(5_000)))},
        lambda: {"x-mcp-header": "a\r\nb: c", "type": chance.choice(["object", 5, None, [], {}])},
        lambda: {"required": chance.choice([["a"], "a", 5, [5]]), "minLength": -1},
    ]
    for _ in range(count):
        yield chance.choice(kinds)()


@pytest.mark.plan(29)
@pytest.mark.parametrize("seed", range(4))
def test_bombs_are_taken_or_refused(seed: int):
    """What goes off never ends."""
    taken = refused = 0
    for schema in bombs(seed, amount(29, "schemas") // 4):
        try:
            compile_schema(schema).fits({"a": ["a" * 30 + "!"]})
        except SchemaRefused:
            refused += 1
        else:
            taken += 1
    assert taken
    assert refused


KEYWORDS = st.sampled_from(
    "$ref $id $schema type properties items allOf anyOf not if then enum const pattern minimum "
    "required additionalProperties patternProperties prefixItems contains $defs format".split()
)
WORDS = st.sampled_from(["#", "#/$defs", "object", "(", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(KEYWORDS, VALUES, max_size=5), VALUES)
def test_any_schema_is_taken_or_refused(schema, value):
    try:
        check = compile_schema(schema)
        fits = check.fits(value)
    except SchemaRefused:
        return
    assert fits == (check.problem(value) is None)
    assert json.dumps(check.schema)
