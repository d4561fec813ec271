"""How many model tokens a text costs: counted where a tokeniser is installed, else estimated.

The vocabulary is o200k_base, which OpenAI publishes. Others keep theirs to themselves: read a count
as theirs, give or take a fifth.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from math import ceil
from typing import Protocol

from toolcrib.model import ToolInfo

ASCII_CHARACTERS_A_TOKEN = 4.5
OTHER_CHARACTERS_A_TOKEN = 1.4
FEWEST_CHARACTERS_A_TOKEN = 3.0
VOCABULARY = "o200k_base"


class TokenCounter(Protocol):
    """Counts tokens. `how` says how: `counted with o200k_base`, or `estimated`."""

    @property
    def how(self) -> str: ...

    def count(self, text: str) -> int:
        """How many tokens a text is."""
        ...


class EstimatingCounter:
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
        self._encode = _encoder()

    def count(self, text: str) -> int:
        """By the vocabulary. Special tokens of a model count as plain text."""
        try:
            return len(self._encode(text))
        except UnicodeEncodeError:  # half a surrogate pair, which no provider would be sent
            return len(self._encode(text.encode(errors="replace").decode()))


def tool_definition(tool: ToolInfo) -> str:
    """A tool as a model is sent it: compact JSON of name, description and parameters."""
    definition = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return json.dumps(definition, ensure_ascii=False, separators=(",", ":"))


def token_counter() -> TokenCounter:
    """The best there is: the real vocabulary if it is installed (extra `tokens`)."""
    try:
        return Tokenizer()
    except ImportError:
        return EstimatingCounter()


def forget_vocabulary() -> None:
    """Let go of the vocabulary, some 30 MB; whoever counts next reads it again.

    For processes that live long and count seldom. A `Tokenizer` that somebody holds goes on.
    """
    from toolcrib.system import give_memory_back  # noqa: PLC0415 - seldom

    _encoder.cache_clear()
    give_memory_back()


@cache
def _encoder() -> Callable[[str], Sequence[int]]:
    """Made once in a process: the vocabulary takes a while to read."""
    from splintr import Tokenizer as Splintr  # noqa: PLC0415 - optional

    return Splintr.from_pretrained(VOCABULARY).encode_ordinary


def estimate_tokens(text: str) -> int:
    """An estimate, and to be shown as one: off by 5 % on most tool definitions, 16 % on some."""
    others = _others(text)
    return ceil((len(text) - others) / ASCII_CHARACTERS_A_TOKEN + others / OTHER_CHARACTERS_A_TOKEN)


def most_tokens(text: str) -> int:
    """What a text costs at most, with rare exceptions: for texts that must keep to a budget.

    It needs no tokeniser, so that such a text is the same whether or not there is one.
    """
    others = _others(text)
    return ceil((len(text) - others) / FEWEST_CHARACTERS_A_TOKEN) + others


def _others(text: str) -> int:
    """How many characters are not ASCII; the codec counts fastest."""
    return len(text) - len(text.encode("ascii", "ignore"))
