import pytest

from toolcrib.execute.pointer import pointed_at

ROOT = {"a": {"b": [1, {"c": 2}]}, "x/y": 3, "~": 4, "": 5}


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("#", ROOT),
        ("#/a/b/1/c", 2),
        ("#/x~1y", 3),
        ("#/~0", 4),
        ("#/", 5),
        ("#/nowhere", None),
        ("#/a/b/7", None),
        ("#/a/b/-", None),
        ("#/a/b/0/c", None),
    ],
)
def test_a_reference_leads_to_a_place_or_nowhere(reference: str, value):
    assert pointed_at(ROOT, reference) == value
