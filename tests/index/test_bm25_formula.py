from tests.hand_made import doc
from toolcrib.index import FieldWeights
from toolcrib.index.document import FIELDS

WEIGHTS = FieldWeights(name=4, label=2, description=1, detail=0.5)


def test_weights_come_in_the_order_of_the_fields():
    assert dict(zip(FIELDS, WEIGHTS.in_order(), strict=True)) == {
        "name": 4,
        "label": 2,
        "description": 1,
        "detail": 0.5,
    }


def test_occurrences_add_up_by_the_weight_of_their_field():
    some = doc("a", name="read", label="file", description="read file read", detail="file")
    assert WEIGHTS.frequencies(some) == {"read": 6.0, "file": 3.5}
