from toolcrib.text.canonical import canonical, digest


def test_the_order_of_keys_does_not_count_but_that_of_lists_does():
    assert canonical({"b": [1, 2], "a": {"d": 1, "c": 2}}) == '{"a":{"c":2,"d":1},"b":[1,2]}'
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest([1, 2]) != digest([2, 1])


def test_no_two_values_share_a_text():
    assert digest({"a": "b|c"}) != digest({"a|b": "c"})
    assert digest(["1"]) != digest([1])
    assert digest("é") != digest("e\u0301")


def test_any_text_has_a_digest():
    assert digest("\ud800") != digest("\ud801")
