import pytest

from toolcrib.search.verbs import asks_the_world

OF_THE_WORLD = [
    "who is the CEO of Nvidia",
    "What's the capital of Peru?",
    "how tall is the Eiffel tower",
    "珠穆朗玛峰有多高",
    "特斯拉的老闆是誰",
]
NOT = [
    "when is my next meeting",
    "what did we ship last week",
    "how many people visited our site",
    "what is this file about",
    "open the door",
    "what time",
    "我这周有什么会",
    "这个文件是谁写的",
    "把灯关掉",
    "",
]


@pytest.mark.parametrize("text", OF_THE_WORLD)
def test_a_question_about_the_world(text: str):
    assert asks_the_world(text)


@pytest.mark.parametrize("text", NOT)
def test_what_is_of_ones_own_or_no_question(text: str):
    assert not asks_the_world(text)


def test_a_huge_text_is_read_in_time():
    assert not asks_the_world("what is my " * 50_000)
