import pytest

from toolcrib.embed.bundled.tokenizer import WordPieceTokenizer, folded

PIECES = [
    "[PAD]",
    "[CLS]",
    "read",
    "file",
    "##s",
    "天气",
    "天",
    "气",
    "预报",
    "文件",
    "c",
    "+",
    "un",
    "##able",
]
SIMPLIFIED = {"氣": "气", "預": "预", "報": "报"}


@pytest.fixture
def tokenizer() -> WordPieceTokenizer:
    return WordPieceTokenizer(PIECES, SIMPLIFIED)


def pieces(tokenizer: WordPieceTokenizer, text: str, most: int = 99) -> list[str]:
    return [PIECES[number] for number in tokenizer.numbers(text, most=most)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("!?… --", []),
        ("Read FILES", ["read", "file", "##s"]),
        ("readFile", ["read", "file"]),
        ("read_file", ["read", "file"]),
        ("READFile", ["read", "file"]),
        ("ｒｅａｄ", ["read"]),
        ("réad", ["read"]),
        ("unreadable", ["un"]),
        ("天气预报", ["天气", "预报"]),
        ("天氣預報", ["天气", "预报"]),
        ("气天", ["气", "天"]),
        ("read文件s", ["read", "文件"]),
        ("龘天龘", ["天"]),
        ("c++", ["c", "+", "+"]),
        ("\ud83d\0read", ["read"]),
    ],
)
def test_a_text_is_cut_into_the_longest_pieces_there_are(tokenizer, text, expected):
    assert pieces(tokenizer, text) == expected


def test_no_more_pieces_than_asked_for(tokenizer):
    assert pieces(tokenizer, "read file 天气", most=2) == ["read", "file"]
    assert pieces(tokenizer, "文件" * 50, most=3) == ["文件"] * 3


def test_a_word_of_any_length_is_cut_in_time(tokenizer):
    assert pieces(tokenizer, "un" * 100_000, most=5) == ["un"]


def test_marks_go_and_syllables_stay():
    assert folded("Ärger ÉTÉ") == "arger ete"
    assert folded("이메일 が") == "이메일 が"
