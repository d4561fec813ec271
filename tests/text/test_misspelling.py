import pytest

from toolcrib.text.misspelling import (
    LEFT_OUT,
    NEAR_KEY,
    OTHER,
    SAME_LETTERS,
    SOUND,
    SWAPPED,
    TOO_MANY,
    TWICE,
    VOWEL,
    misspelling_cost,
)


@pytest.mark.parametrize(
    ("written", "meant", "cost"),
    [
        ("email", "email", 0.0),
        ("emial", "email", SWAPPED),
        ("adress", "address", TWICE),
        ("untill", "until", TWICE),
        ("passwrd", "password", VOWEL),
        ("calender", "calendar", VOWEL),
        ("brach", "branch", LEFT_OUT),
        ("frensh", "french", SOUND),
        ("paragraf", "paragraph", SOUND),
        ("filse", "file", TOO_MANY),
        ("ooen", "open", NEAR_KEY),
        ("fox", "fix", VOWEL),
        ("tile", "file", OTHER),
        ("tommorow", "tomorrow", SAME_LETTERS),
        ("vedio", "video", SAME_LETTERS),
        ("bread", "broom", 3 * OTHER),
        ("", "a", VOWEL),
    ],
)
def test_usual_mistakes_are_cheap_and_others_dear(written: str, meant: str, cost: float):
    assert misspelling_cost(written, meant) == cost
