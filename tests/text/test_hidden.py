import pytest

from toolcrib.text.hidden import find_hidden, show_hidden, without_hidden

HONEST = [
    "Read a file.\n\tTwo lines,\r\nthree.",
    "Café naïve — “quotes” … 100 % • † ‡ ½ €",
    "👩‍💻 👨‍👩‍👧‍👦 ❤️‍🔥 🏳️‍🌈 👍🏽 1️⃣ #️⃣ ☎️ ☎︎ ©️ ™️ ‼️ ℹ️ ↔️ 🇩🇪",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f is England",
    "קובץ \u200fשלום\u200e abc",
    "مرحبا بالعالم",
    "می\u200cخواهم فایل را بخوانم",
    "क्\u200dष हिन्दी क्\u200cष",
    "读取文件；葛\U000e0100城",
    "ᠮᠣᠩᠭᠣᠯ\u180e\u1820",
    "\ufeffA byte order mark at the start",
    "∩︀ and ≨︀",
]
HIDDEN = {
    "zero-width": ["a\u200bb", "a\u200db", "a\u2060", "x\ufeffy", "pass\u00adword", "\u3164"],
    "bidi": [
        "\u202eabc\u202c",
        "\u2066x\u2069",
        "left \u200eto right",
        "\u061cx",
        "שלום\u200e\u200f\u200e",
    ],
    "tag": ["".join(chr(0xE0000 + ord(c)) for c in "obey"), "\U0001f3f4\U000e0067\U000e007f"],
    "variation": ["a\ufe0f", "😀\ufe0f\ufe0e", "😀\U000e0100", "x\U000e01ef", "+\ufe00"],
    "ansi": ["\x1b[31mred", "\x9b2J", "\x1b]8;;http://x\x07here", "\x1b"],
    "control": ["a\x00b", "\x07", "\x7f", "a\x85b", "\x0b"],
    "private": ["\U000f0001", "\U0010fffd"],
}
CASES = [(trick, text) for trick, texts in HIDDEN.items() for text in texts]


@pytest.mark.parametrize("text", HONEST)
def test_what_is_what_it_seems_is_no_finding(text: str):
    assert find_hidden(text) == ()
    assert without_hidden(text) == show_hidden(text) == text


@pytest.mark.plan(35)
@pytest.mark.parametrize(("trick", "text"), CASES)
def test_every_trick_is_found_wherever_it_stands(trick: str, text: str):
    for around in ("{}", "Read a file {} and more", "读取{}文件", "{}{}"):
        found = find_hidden(around.format(text, text))
        assert trick in {finding.trick for finding in found}


@pytest.mark.parametrize("text", [text for _, text in CASES])
def test_nothing_hidden_is_left(text: str):
    left = without_hidden(f"Read {text} a file")
    assert find_hidden(left) == ()
    assert left.startswith("Read ")
    assert left.endswith(" a file")


def test_an_escape_sequence_goes_whole():
    assert without_hidden("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07") == "red link"


def test_what_is_left_does_not_join_to_something_new():
    assert without_hidden("\x1b\x00[31mred \u200b") in ("31mred ", "[31mred ", "red ")
    assert find_hidden(without_hidden("a\ufe0f\ufe0f😀\ufe0f\ufe0f")) == ()


def test_what_is_hidden_can_be_shown():
    assert show_hidden("a\u200bb\x1b[31mc") == "a⟨U+200B⟩b⟨U+001B⟩[31mc"


def test_a_finding_says_where():
    (found,) = find_hidden("ab\u202ecd")
    assert found == ("bidi", 2, 3)
