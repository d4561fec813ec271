from pathlib import Path

import pytest

from toolcrib.errors import ConfigError
from toolcrib.text.glossary import LARGEST_GLOSSARY, GlossaryLine, parse_glossary, read_glossary


def lines(text: str) -> list[GlossaryLine]:
    return list(parse_glossary(text, "mine.txt"))


def test_an_entry_has_its_terms_in_order_and_its_section():
    [first, second] = lines("# mine\nen | zh\n\n[files]\nfile , document|文件,文档\nread|读取\n")
    assert first == GlossaryLine(("en", "zh"), (("file", "document"), ("文件", "文档")), "files", 5)
    assert second.sides == (("read",), ("读取",))


def test_the_languages_may_stand_the_other_way_round():
    [only] = lines("zh | en\n文件 | file")
    assert only.languages == ("zh", "en")


def test_a_text_without_entries_has_none():
    assert lines("") == lines("# nothing yet") == lines("en | zh\n[files]") == []


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("file | 文件", 1, "names two languages"),
        ("\nen | xx", 2, "en"),
        ("en | en", 1, "names two languages"),
        ("en", 1, "names two languages"),
        ("en | zh\nfile", 2, "two sides"),
        ("en | zh\nfile | 文件 | 檔案", 2, "has 3"),
        ("en | zh\n\nfile, | 文件", 3, "a term is empty"),
        ("en | zh\nfile |", 2, "a term is empty"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text: str, line: int, says: str):
    with pytest.raises(ConfigError, match=f"^mine.txt:{line}: .*{says}"):
        lines(text)


def test_a_file_is_read_with_a_byte_order_mark_and_any_line_ends(tmp_path: Path):
    file = tmp_path / "mine.txt"
    file.write_bytes("\ufeffen | zh\r\nfile | 文件\r\n".encode())
    [only] = read_glossary(file)
    assert only.sides == (("file",), ("文件",))


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"gone\.txt: this glossary cannot be read"):
        read_glossary(tmp_path / "gone.txt")


def test_a_file_in_another_encoding_is_named_with_its_line(tmp_path: Path):
    file = tmp_path / "mine.txt"
    file.write_bytes(b"en | zh\nfile | " + "文件".encode("gb18030"))
    with pytest.raises(ConfigError, match=r"mine\.txt:2: is not UTF-8"):
        read_glossary(file)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path):
    file = tmp_path / "mine.txt"
    file.write_bytes(b"#" * (LARGEST_GLOSSARY + 1))
    with pytest.raises(ConfigError, match="split it"):
        read_glossary(file)
