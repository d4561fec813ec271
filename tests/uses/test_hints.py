from toolcrib.uses.hints import often_with


def test_what_was_used_once_is_no_hint_and_a_declared_link_is_one_from_the_first_day():
    assert often_with((), {"once": 1}, {}) == ()
    assert often_with(("linked",), {}, {}) == ("linked",)


def test_before_and_after_count_together_the_most_often_first():
    told = often_with(("linked",), {"a": 1, "b": 9, "c": 3}, {"a": 1, "linked": 1})
    assert told == ("b", "linked", "c", "a")
