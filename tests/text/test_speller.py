import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text import Correction, CountedWords, Speller

CATALOG = Speller(
    CountedWords({"email": 9, "send": 20, "weather": 4, "zotero": 2, "qwexer": 1, "msg": 3})
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("sned an emial to bob", "send an email to bob"),
        ("wats the wether like rn", "what is the weather like right now"),
        ("trnaslate this paragraf to frensh", "translate this paragraph to french"),
        ("a strong new passwrd", "a strong new password"),
        ("book a tabel for tommorow", "book a table for tomorrow"),
        ("delte the githb branch", "delete the github branch"),
        ("Serch for restuarants", "search for restaurants"),
        ("find papers in zoteroo", "find papers in zotero"),
        ("shw me", "show me"),
        ("用githb搜一下", "用github搜一下"),
    ],
)
def test_a_misspelt_word_is_read_as_the_word_that_was_meant(typed: str, meant: str):
    assert CATALOG.correct(typed).text == meant


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "send an email to bob",
        "send it to zotero and to qwexer",  # words of the catalog
        "the tomes, the catchers and the lumps",  # forms of common words
        "send a msg",  # an abbreviation that the catalog has
        "pls send it asap thx",  # politeness, which is left out elsewhere
        "post \"sned an emial\" in `githb`, or 'wether'",
        "delete the branch named emial",
        "open ./emial/sned.txt, emial_sned, emialSned, emial-2, sned@emial.com and #emial",
        "ask Emial about SNED",  # names
        "don't say it's Bob's",
        "naïve café über",
        "das wetter in der stadt und die tempratur zeigen",  # no English
        "muestra los mensajes de la semana para el proyecto nuevoo",
        "xq zz k8s 0x71c7 xkcdqwf",  # near to nothing
        "plonzer and florvin",  # near to longer and florian, but not near enough
        "发送邮件",
        "ask imran, pawel and xiaoming about cusco",  # names without a capital letter
    ],
)
def test_what_is_known_or_looks_like_a_name_stays(typed: str):
    assert CATALOG.correct(typed) == (typed, ())


def test_it_says_what_it_corrected():
    corrected = CATALOG.correct("Sned the emial")
    assert corrected.corrections == (Correction("Sned", "send"), Correction("emial", "email"))
    assert str(corrected.corrections[1]) == "emial → email"


def test_of_words_equally_near_the_usual_one_is_meant():
    assert Speller().meant("fiel") == "file"
    assert Speller().meant("lsit") == "list"
    assert Speller(CountedWords({"lsis": 1})).meant("lsit") == "list"


def test_a_text_full_of_unknown_words_is_left_alone():
    typed = " ".join(["emial", "sned", "wether", "passwrd"] * 20)
    assert CATALOG.correct(typed).text == typed


def test_a_word_that_only_the_catalog_has_is_said_only_if_it_may_be():
    def never(_word: str) -> bool:
        return False

    assert CATALOG.correct("find zoterro, emial qwexxer").text == "find zotero, email qwexer"
    kept = CATALOG.correct("find zoterro, emial qwexxer", may_say=never)
    assert kept.text == "find zotero, email qwexxer"


@given(st.text(max_size=200) | st.text("sned emial \"'`/.-", max_size=200))
def test_whatever_is_typed_only_words_of_it_change(typed: str):
    corrected = CATALOG.correct(typed)
    assert (corrected.text == typed) == (not corrected.corrections)
    assert all(written in typed for written, _ in corrected.corrections)


def test_a_word_of_any_length_is_looked_up():
    assert CATALOG.correct("a" * 10_000).text == "a" * 10_000
