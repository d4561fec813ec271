"""How many model tokens a text costs, estimated without a tokeniser."""

from math import ceil

ASCII_CHARACTERS_A_TOKEN = 4.5
OTHER_CHARACTERS_A_TOKEN = 1.4


def estimate_tokens(text: str) -> int:
    """An estimate, and to be shown as one: 5 % off on most tool definitions, 16 % on some."""
    ascii_characters = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    others = len(text) - ascii_characters
    return ceil(ascii_characters / ASCII_CHARACTERS_A_TOKEN + others / OTHER_CHARACTERS_A_TOKEN)
