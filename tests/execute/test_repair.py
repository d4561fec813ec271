import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.execute.repair import MOST_NOTES, MOST_WRAPPERS, readings
from toolcrib.execute.schema_gate import compile_schema

PLACE = {"type": "object", "properties": {"lat": {"type": "number"}, "names": {"type": "array"}}}
SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "on": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "place": {"$ref": "#/$defs/place"},
        "text": {"type": "string"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "spot": {"anyOf": [{"$ref": "#/$defs/place"}, {"type": "null"}]},
        "any": {},
    },
    "required": ["n"],
    "additionalProperties": False,
    "$defs": {"place": PLACE},
}
CHECK = compile_schema(SCHEMA)


def mended(given: object):
    """The first reading that fits, or None."""
    fitting = (each for each in readings(given, SCHEMA) if isinstance(each.value, dict))  # pyright: ignore[reportArgumentType]
    return next((each for each in fitting if CHECK.fits(each.value)), None)


@pytest.mark.parametrize(
    ("given", "meant", "notes"),
    [
        ('{"n": 1}', {"n": 1}, 1),
        ('"{\\"n\\": 1}"', {"n": 1}, 2),
        ({"arguments": {"n": 1}}, {"n": 1}, 1),
        ({"input": {"n": 1}}, {"n": 1}, 1),
        ({"parameters": '{"n": "1"}'}, {"n": 1}, 3),
        ({"args": {"arguments": {"n": 1}}}, {"n": 1}, 2),
        ({"n": "5"}, {"n": 5}, 1),
        ({"n": 1, "on": "true"}, {"n": 1, "on": True}, 1),
        ({"n": 1, "on": "False"}, {"n": 1, "on": False}, 1),
        ({"n": 1, "tags": '["a"]'}, {"n": 1, "tags": ["a"]}, 1),
        ({"n": 1, "tags": "a"}, {"n": 1, "tags": ["a"]}, 1),
        ({"n": 1, "ids": "7"}, {"n": 1, "ids": [7]}, 2),
        ({"n": 1, "ids": ["7", 8]}, {"n": 1, "ids": [7, 8]}, 1),
        ({"n": 1, "place": '{"lat": "1.5"}'}, {"n": 1, "place": {"lat": 1.5}}, 2),
        ({"n": 1, "place.lat": 2}, {"n": 1, "place": {"lat": 2}}, 1),
        ({"n": 1, "spot.lat": "2"}, {"n": 1, "spot": {"lat": 2}}, 2),
        ({"n": 1, "place": {"names": []}, "place.lat": 2},
         {"n": 1, "place": {"names": [], "lat": 2}}, 1),
        ({"n": 1, "text": None}, {"n": 1}, 1),
        ({"n": 1, "maybe": "3"}, {"n": 1, "maybe": 3}, 1),
    ],
)  # fmt: skip
def test_the_usual_slips_are_put_right_and_told(given: object, meant: object, notes: int):
    reading = mended(given)
    assert reading
    assert reading.value == meant
    assert len(reading.notes) == notes


@pytest.mark.parametrize(
    "fitting",
    [
        {"n": 1, "text": "5"},
        {"n": 1, "text": '["a"]'},
        {"n": 1, "maybe": None},
        {"n": 1, "any": "5"},
        {"n": 1, "any": None},
        {"n": 1, "any": {"arguments": "{}"}},
    ],
)
def test_what_fits_is_left_alone(fitting: object):
    reading = mended(fitting)
    assert reading
    assert (reading.value, reading.notes) == (fitting, ())


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"n": None},
        {"n": "many"},
        {"n": "1.5"},
        {"n": 1, "on": "yes"},
        {"n": 1, "other": 2},
        {"n": 1, "place.lon": 2},
        {"n": 1, "place": {"lat": 1}, "place.lat": 2},
        {"n": 1, "place": 3, "place.lat": 2},
        {"arguments": {"n": 1}, "n": 2},
        "n=1",
        [1],
        5,
        None,
    ],
)
def test_nothing_is_guessed(wrong: object):
    assert mended(wrong) is None


def test_a_flat_key_that_the_schema_has_is_left_alone():
    schema = {"properties": {"a.b": {}, "a": {"properties": {"b": {}}}}}
    assert all(reading.value == {"a.b": 1} for reading in readings({"a.b": 1}, schema))


def test_the_arguments_given_are_not_touched():
    given = {"n": "1", "place.lat": "2", "text": None}
    before = json.dumps(given)
    assert mended(given)
    assert json.dumps(given) == before


FITTING = st.fixed_dictionaries(
    {"n": st.integers(-(2**53), 2**53)},
    optional={
        "on": st.booleans(),
        "tags": st.lists(st.text()),
        "ids": st.lists(st.integers(-(2**53), 2**53)),
        "place": st.fixed_dictionaries({}, optional={"lat": st.integers(-90, 90)}),
        "text": st.text(),
    },
)


@given(FITTING, st.sets(st.sampled_from(["n", "on", "tags", "ids", "place"])), st.booleans())
def test_whatever_is_written_as_text_is_read_back(arguments, as_text, wrapped: bool):
    slipped = {k: json.dumps(v) if k in as_text else v for k, v in arguments.items()}
    reading = mended({"arguments": json.dumps(slipped)} if wrapped else slipped)
    assert reading
    assert reading.value == arguments
    assert bool(reading.notes) == (wrapped or bool(as_text & arguments.keys()))


KEYS = st.sampled_from(
    ["n", "on", "tags", "ids", "place", "text", "maybe", "any", "place.lat", "arguments"]
)
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["5", "[]", "{}", "x"])
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_any_arguments_have_readings_and_the_first_is_as_they_stand(value):
    every = list(readings(value, SCHEMA))
    assert every[0].value == value
    assert not every[0].notes
    assert all(reading.notes or reading.value == value for reading in every)


def test_wrappers_are_taken_off_a_few_times_at_most():
    given: object = {"n": 1}
    for _ in range(60):
        given = {"arguments": given}
    every = list(readings(given, SCHEMA))  # pyright: ignore[reportArgumentType]
    assert len(every) == 2 * (MOST_WRAPPERS + 1)


def test_of_many_repairs_the_first_few_are_told():
    reading = mended({"n": 1, "ids": ["1"] * 1_000})
    assert reading
    assert reading.value == {"n": 1, "ids": [1] * 1_000}
    assert reading.notes[0] == "$.ids[0]: text read as integer"
    assert reading.notes[-1] == f"{1_000 - MOST_NOTES} more like these"
    assert len(reading.notes) == MOST_NOTES + 1


def test_many_flattened_keys_are_put_into_one_object():
    names = [f"k{number}" for number in range(20_000)]
    schema = {"properties": {"a": {"properties": {name: {} for name in names}}}}
    given = {f"a.{name}": 1 for name in names}
    *_, last = readings(given, schema)
    assert last.value == {"a": dict.fromkeys(names, 1)}


def test_each_place_of_a_schema_is_looked_at_once():
    class Counting(list[str]):
        looks = 0

        def __iter__(self):
            Counting.looks += 1
            return super().__iter__()

    schema = {"properties": {"a": {"items": {"enum": Counting(["v"])}}}}
    list(readings({"a": ["w"] * 1_000}, schema))
    assert Counting.looks < 10


UNIT = {"type": "string", "enum": ["km", "mi"], "default": "km"}
WITH_DEFAULTS = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "unit": UNIT,
        "near": {
            "type": "object",
            "properties": {"km": {"type": "integer", "default": 5}},
            "required": ["km"],
            "default": {},
        },
        "stops": {
            "type": "array",
            "items": {"type": "object", "properties": {"unit": UNIT}, "required": ["unit"]},
        },
        "tries": {"$ref": "#/$defs/tries", "default": 3},
        "seldom": {"type": "integer", "default": 1},
    },
    "required": ["city", "unit", "near", "tries"],
    "$defs": {"tries": {"type": "integer"}},
}
ALL_FILLED = {"unit": "km", "near": {"km": 5}, "tries": 3}
FILLED_IN = "left out, so its default was filled in"


def filled(given: object, schema: Any = WITH_DEFAULTS):
    check = compile_schema(schema)
    every = readings(given, schema)  # pyright: ignore[reportArgumentType]
    objects = (each for each in every if isinstance(each.value, dict))
    return next((each for each in objects if check.fits(each.value)), None)


def test_what_is_required_and_left_out_is_its_default():
    reading = filled({"city": "Oslo"})
    assert reading
    assert reading.value == {"city": "Oslo", **ALL_FILLED}
    assert reading.notes == tuple(f"$.{key}: {FILLED_IN}" for key in ("unit", "near", "tries"))


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"city": "Oslo", "unit": "mi"}, {"unit": "mi"}),
        ({"city": "Oslo", "unit": None}, {}),
        ({"city": "Oslo", "near": {}}, {}),
        ({"city": "Oslo", "near": {"km": "7"}}, {"near": {"km": 7}}),
        ({"city": "Oslo", "stops": [{}, {"unit": "mi"}]},
         {"stops": [{"unit": "km"}, {"unit": "mi"}]}),
        ({"arguments": {"city": "Oslo", "tries": "4"}}, {"tries": 4}),
        ('{"city": "Oslo"}', {}),
    ],
)  # fmt: skip
def test_defaults_are_filled_in_wherever_they_are_missing(given: object, meant: dict[str, object]):
    reading = filled(given)
    assert reading
    assert reading.value == {"city": "Oslo", **ALL_FILLED, **meant}


def test_what_may_be_left_out_is_left_out_and_what_has_no_default_is_missed():
    assert filled({}) is None
    fits = filled({"city": "Oslo", **ALL_FILLED})
    assert fits
    assert (fits.value, fits.notes) == ({"city": "Oslo", **ALL_FILLED}, ())


def test_a_default_that_does_not_fit_is_not_taken():
    schema = {"type": "object", "properties": {"n": {"type": "integer", "default": "many"}},
              "required": ["n"]}  # fmt: skip
    assert filled({}, schema) is None


def test_what_was_given_in_a_wrapper_comes_before_a_default():
    schema = {**WITH_DEFAULTS, "additionalProperties": True}
    schema = {**schema, "required": ["unit"]}
    reading = filled({"arguments": {"unit": "mi"}}, schema)
    assert reading
    assert reading.value == {"unit": "mi"}
    reading = filled({"arguments": {"city": "Oslo"}}, schema)
    assert reading
    assert reading.value == {"city": "Oslo", "unit": "km"}


def test_a_wrapper_that_is_a_property_stays_where_it_is():
    schema = {
        "type": "object",
        "properties": {"input": {"type": "object"}, "mode": {"default": "fast"}},
        "required": ["mode"],
    }
    reading = filled({"input": {"a": 1}}, schema)
    assert reading
    assert reading.value == {"input": {"a": 1}, "mode": "fast"}


def test_a_default_that_leads_into_itself_ends():
    child = {"$ref": "#", "default": {}}
    schema = {"type": "object", "properties": {"child": child}, "required": ["child"]}
    assert list(readings({}, schema))  # pyright: ignore[reportArgumentType]


def test_a_large_default_is_made_once_for_all_the_places_it_is_missing_in():
    large = {f"k{n}": {"n": n} for n in range(500)}
    item = {"type": "object", "properties": {"x": {"default": large}}, "required": ["x"]}
    schema = {"type": "object", "properties": {"all": {"type": "array", "items": item}}}
    *_, last = readings({"all": [{}] * 5_000}, schema)  # pyright: ignore[reportArgumentType]
    made: Any = last.value
    assert all(each["x"] is made["all"][0]["x"] for each in made["all"])
