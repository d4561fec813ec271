"""Words that SQLite can take as they are."""

from collections.abc import Iterable


def storable(texts: Iterable[str]) -> list[str]:
    """Each of the texts once, in order, without those that no row can hold.

    SQLite ends a text at NUL, and half a surrogate pair is no UTF-8. The tokeniser makes neither.
    """
    return [text for text in dict.fromkeys(texts) if "\0" not in text and _is_utf8(text)]


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
