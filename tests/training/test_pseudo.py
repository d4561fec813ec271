import random

import pytest

from training import own_text
from training.pseudo import chinese_queries, dictionary, english_queries, taken_apart, words_of


@pytest.fixture
def using():
    return dictionary(own_text.load(), [("Users", "用户")])


def test_a_name_is_a_verb_and_an_object(using):
    parts = taken_apart("github_listUsers", using)
    assert parts
    assert (parts.context, parts.object) == ("github", "users")
    assert "show" in parts.action.english
    assert taken_apart("weather", using) is None
    assert words_of("getHTTPResponse2") == ["get", "http", "response", "2"]


def test_queries_are_made_of_it_in_both_languages(using):
    chance = random.Random(1)
    english = list(english_queries("list_users", "Lists all users.", using, chance, 20))
    assert english[0] == "list users"
    assert len(english) == 21
    assert any(query.endswith("users") and "list" not in query for query in english)
    chinese = list(chinese_queries("list_users", using, chance, 20))
    assert len(chinese) == 20
    assert all("用户" in query for query in chinese)
    assert not list(chinese_queries("list_frobnicators", using, chance, 5))


def test_requests_say_the_same_in_both_languages():
    own = own_text.load()
    made = list(own_text.requests(own, 50, random.Random(2)))
    assert len(made) == 50
    assert all(english.isascii() and not chinese.isascii() for english, chinese in made)
