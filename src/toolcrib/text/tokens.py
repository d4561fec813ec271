"""How many model tokens a text costs: counted where a tokeniser is installed, else estimated.

The vocabulary is o200k_base, which OpenAI publishes. Others keep theirs to themselves: read a count
as theirs, give or take a fifth.
"""

from math import ceil
from typing import Protocol

ASCII_CHARACTERS_A_TOKEN = 4.5
OTHER_CHARACTERS_A_TOKEN = 1.4
VOCABULARY = "o200k_base"


class TokenCounter(Protocol):
    """Counts tokens. `how` says how: `counted with o200k_base`, or `estimated`."""

    @property
    def how(self) -> str: ...

    def count(self, text: str) -> int:
        """How many tokens a text is."""
        ...


class Estimate:
    """Counts by the length of a text, without a tokeniser."""

    how = "estimated"

    def count(self, text: str) -> int:
        """See `estimate_tokens`."""
        return estimate_tokens(text)


class Tokenizer:
    """Counts with the real vocabulary, which the package `splintr` brings along.

    Raises `ImportError` where that is not installed. It reads no file and no network at run time.
    """

    how = f"counted with {VOCABULARY}"

    def __init__(self) -> None:
        from splintr import Tokenizer as Splintr  # noqa: PLC0415 - optional, and 38 MB

        self._tokenizer = Splintr.from_pretrained(VOCABULARY)

    def count(self, text: str) -> int:
        """As many as the vocabulary has it. What is special to a model is text here."""
        return len(self._tokenizer.encode(text))


def token_counter() -> TokenCounter:
    """The best there is: the real vocabulary if it is installed (extra `tokens`)."""
    try:
        return Tokenizer()
    except ImportError:
        return Estimate()


def estimate_tokens(text: str) -> int:
    """An estimate, and to be shown as one: 5 % off on most tool definitions, 16 % on some."""
    ascii_characters = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    others = len(text) - ascii_characters
    return ceil(ascii_characters / ASCII_CHARACTERS_A_TOKEN + others / OTHER_CHARACTERS_A_TOKEN)
