"""References, as we follow them and as the validator does."""

import random
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from toolcrib.execute.schema_gate import SchemaRefused, compile_schema
from toolcrib.execute.schema_reader import pointed_at

ROOT = {"a": {"b": [1, {"c": 2}]}, "x/y": 3, "~": 4, "": 5, "$d": 6, "%24": 7, "é": 8}


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("#", ROOT),
        ("#/a/b/1/c", 2),
        ("#/x~1y", 3),
        ("#/~0", 4),
        ("#/", 5),
        ("#/%24d", 6),
        ("#/%2524", 7),
        ("#/%C3%A9", 8),
        ("#/%61/b/%31/c", 2),
        ("#/a%2Fb%2F0", 1),
        ("#/x%7E1y", 3),
        ("#/%C3", None),
        ("#/a/b/00", None),
        ("#/a/b/+1", None),
        ("#/nowhere", None),
        ("#/a/b/7", None),
        ("#/a/b/-", None),
        ("#/a/b/0/c", None),
    ],
)
def test_a_reference_leads_to_a_place_or_nowhere(reference: str, value):
    assert pointed_at(ROOT, reference) == value


KEYS = ["a", "b", "$defs", "a/b", "a~b", "~1", "%24", "%2F", "0", "01", "", "é", "a b", "a%b", "+1"]
SPELT = (
    "a b $defs %24defs %2524defs a~1b a%2Fb a%7E1b a~0b ~01 ~1 %24 %2524 %2F %252F 0 00 01 1 +1 %31"
    " - %C3%A9 %C3 a%20b a%25b allOf %61llOf ~2 ~ a+b % %zz %2"
).split()


def numbered(chance: random.Random, number: Iterator[int], depth: int) -> dict[str, Any]:
    """A schema with definitions under odd names, each of which takes one number alone."""
    made: dict[str, Any] = {"const": next(number)}
    if depth:
        inner = {key: numbered(chance, number, depth - 1) for key in chance.sample(KEYS, 7)}
        made["$defs"] = {**inner, "$defs": numbered(chance, number, depth - 1)}
        made["x"] = {"allOf": [numbered(chance, number, 0), numbered(chance, number, 0)]}
    return made


def test_where_a_reference_leads_we_and_the_validator_agree_or_it_is_refused():
    chance = random.Random(6901)
    agreed = 0
    for _ in range(1_000):
        definitions = numbered(chance, iter(range(10_000)), 2)["$defs"]
        path = "/".join(chance.choice([*SPELT, ""]) for _ in range(chance.randrange(1, 3)))
        reference = chance.choice(["#/$defs/", "#/%24defs/", "#/", "#"]) + path
        schema = {"$defs": definitions, "properties": {"a": {"$ref": reference}}}
        try:
            check = compile_schema(schema)
        except SchemaRefused:
            continue
        ours = pointed_at(check.schema, reference)
        theirs = jsonschema_rs.validator_for(schema, offline=True)
        for number in range(40):
            assert check.fits({"a": number}) == theirs.is_valid({"a": number})
        if isinstance(ours, dict) and "const" in ours:
            assert theirs.is_valid({"a": ours["const"]}), reference
            assert not theirs.is_valid({"a": -1}), reference
            agreed += 1
    assert agreed > 50
