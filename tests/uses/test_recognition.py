from toolcrib.store import UseLesson, UseLessonKey, UseRecord
from toolcrib.uses import words_that_led
from toolcrib.uses.advice import content_words
from toolcrib.uses.counts import word_hashes

KEY = b"0123456789abcdef"


def record(*taught: tuple[str, str, int], key: bytes = KEY, profile: bytes = b"p") -> UseRecord:
    """What is kept after each of these queries led to a tool so many times."""
    return UseRecord(
        lessons={
            UseLessonKey(profile, word, tool): UseLesson(uses, 1.0, 0)
            for query, tool, uses in taught
            for word in word_hashes(content_words(query), key)
        },
        key=key,
    )


TEXTS = ["Sends messages to a boss", "发送邮件给老板", "The message is sent"]


def test_words_of_the_catalog_are_known_again_in_a_spelling_of_it():
    led = words_that_led(record(("send a message to the boss", "mail", 2)), TEXTS)
    assert [each.word for each in led["mail"]] == ["boss", "messages", "sends"]
    assert {each.uses for each in led["mail"]} == {2}


def test_what_is_not_in_the_catalog_stays_unknown():
    led = words_that_led(record(("message hunter2pass Kowalski", "mail", 1)), TEXTS)
    assert [each.word for each in led["mail"]] == ["messages"]
    assert words_that_led(record(("Kowalski", "mail", 1)), TEXTS) == {}


def test_the_most_used_word_comes_first():
    led = words_that_led(record(("boss", "mail", 5), ("send a message", "mail", 2)), TEXTS)
    assert [each.word for each in led["mail"]] == ["boss", "messages", "sends"]


def test_chinese_words_are_known_by_pairs_of_characters():
    led = words_that_led(record(("给老板发邮件", "mail", 1)), TEXTS)
    assert {"老板", "邮件"} <= {each.word for each in led["mail"]}


def test_with_another_key_nothing_is_known():
    kept = record(("send a message", "mail", 2))
    assert words_that_led(UseRecord(lessons=kept.lessons, key=b"f" * 16), TEXTS) == {}
