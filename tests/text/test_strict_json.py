from toolcrib.text import canonical_json, json_digest


def test_the_order_of_keys_does_not_count_but_that_of_lists_does():
    assert canonical_json({"b": [1, 2], "a": {"d": 1, "c": 2}}) == '{"a":{"c":2,"d":1},"b":[1,2]}'
    assert json_digest({"a": 1, "b": 2}) == json_digest({"b": 2, "a": 1})
    assert json_digest([1, 2]) != json_digest([2, 1])


def test_no_two_values_share_a_text():
    assert json_digest({"a": "b|c"}) != json_digest({"a|b": "c"})
    assert json_digest(["1"]) != json_digest([1])
    assert json_digest("é") != json_digest("e\u0301")


def test_any_text_has_a_digest():
    assert json_digest("\ud800") != json_digest("\ud801")
