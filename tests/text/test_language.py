import pytest

from toolcrib.text import Language, detect_language


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("读取文件", "zh"),
        ("用 GitHub 搜索文件", "zh"),
        ("read a file", "en"),
        ("translate the word 文件 for me", "en"),
        ("", "en"),
        ("123 !?", "en"),
    ],
)
def test_a_fifth_of_the_letters_decides(text: str, expected: Language):
    assert detect_language(text) == expected
