import pytest

from toolcrib.text import find_hidden, show_hidden, without_hidden

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
    "הקובץ README.md\u200f נקרא (API\u200e) לפי השם",
    "אָ֑ב בְּרֵאשִׁ֖ית בָּרָ֣א",
    "نرم\u200cافزارها را می\u200cخواهیم و کتاب\u200cخانه\u200cها را می\u200cبینیم، ۱۴۰۲ ه\u200d",
    "ශ්\u200dරී ලංකා; അവര്\u200d പറഞ്ഞു; র\u200d্যাব",
    "អាន\u200bឯកសារ\u200bមួយ",
    "Đọc tệp: a\u0306\u0301 o\u0302\u0301 ư\u0301 Ti\u00ea\u0301ng Vi\u1ec7t",
    "渡邉󠄂 辻󠄀 葛󠄀城 邊󠄏 さん",
    "⠓⠑⠇⠇⠕\u2800⠺⠕⠗⠇⠙ ⠋⠙⠹",
    "\U00013079\U00013430\U0001307a",
    "| a" + " " * 90 + "| b |\n" + "\n" * 20 + "end",
    "\ufffd is what a broken letter is shown as",
]
HIDDEN = {
    "zero-width": [
        "a\u200bb",
        "a\u200db",
        "a\u2060",
        "x\ufeffy",
        "pass\u00adword",
        "a\ufffcb",
        "a\ufffab",
        "a\U00013430b",
        "\U0001d173",
        "\U0001bca0",
        "a\u180eb",
        "a\u2064b",
        "سلام\u200c",
        "س\u200dل",
        "क\u200cख",
        "س\u200cل\u200cا\u200cم\u200c",
        "ก\u200ba",
        "\U00013079\U00013430\U00013431",
        "\u034f",
        "\u2063",
    ],
    "blank": [
        "\u3164",
        "\u115f",
        "\uffa0",
        "a\u2800b",
        "x" + " " * 3000 + "obey",
        "a" + "\u3000" * 400 + "b",
        "a" + " \n" * 60 + "b",
        "a" + "\n" * 90,
        "\u2800\u2800",
    ],
    "stacked": ["o" + "\u0301\u0302\u0303\u0304\u0305", "x" + "\u0489" * 40, "ก" + "\u0e49" * 9],
    "bidi": [
        "\u202eabc\u202c",
        "\u2066x\u2069",
        "left \u200eto right",
        "\u061cx",
        "שלום\u200e\u200f\u200e",
        "א\u200e",
        "a\u200eb\u200fc\u200ed א",
        "שלום a\u200fb\u200ec",
        "a b c d e f g h\u200f i j k l m n o p שלום",
    ],
    "tag": ["".join(chr(0xE0000 + ord(c)) for c in "obey"), "\U0001f3f4\U000e0067\U000e007f"],
    "variation": [
        "a\ufe0f",
        "😀\ufe0f\ufe0e",
        "😀\U000e0100",
        "x\U000e01ef",
        "+\ufe00",
        "葛\U000e01b0",
        "葛\ufe05",
        "א\ufe00",
        "葛\U000e0100城\U000e0101" * 3,
    ],
    "ansi": ["\x1b[31mred", "\x9b2J", "\x1b]8;;http://x\x07here", "\x1b"],
    "control": ["a\x00b", "\x07", "\x7f", "a\x85b", "\x0b", "a\u2028b", "a\u2029b", "a\ud800b"],
    "private": ["\U000f0001", "\U0010fffd", "\ue000", "\uf8ff", "\ufdd0", "\uffff", "\U0001fffe"],
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
