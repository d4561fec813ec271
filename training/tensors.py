"""The corpus as tensors, made once before training: batches are then cut, not assembled."""

import lzma
import random
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.bundled.tokenizer import WordPieceTokenizer

Numbers = NDArray[np.uint16]

TEXT_MOST, TOOL_MOST = 64, 80
START = 1
"""The number of [CLS], with which every text begins."""
SEED = 11


class Ragged(NamedTuple):
    """Texts of different lengths as one matrix, padded with 0, and how long each is."""

    rows: Numbers
    lengths: NDArray[np.int32]


class Lesson(NamedTuple):
    """Texts to draw to where the teacher puts `taught`: a translation and its English."""

    other: str
    english: str
    taught: str
    kind: str


def lines(file: Path) -> list[list[str]]:
    """The cells of a packed file."""
    with lzma.open(f"{file}.xz", "rt", encoding="utf-8") as text:
        return [line.rstrip("\n").split("\t") for line in text]


def tokenizer(folder: Path, *, words: bool = True) -> WordPieceTokenizer:
    """The model's tokenizer; without `words`, Chinese and the like have characters alone."""
    pieces = [row[0] for row in lines(folder / "pieces.txt")]
    if not words:
        pieces = [p if p.isascii() or len(p.removeprefix("##")) == 1 else f"\0{p}" for p in pieces]
    return WordPieceTokenizer(pieces, {row[0]: row[1] for row in lines(folder / "simplified.tsv")})


def ragged(texts: Sequence[str], cut: Callable[[str], list[int]], most: int) -> Ragged:
    """The texts as numbers, on every core."""
    with Pool(initializer=_remember, initargs=(cut,)) as pool:
        found = pool.map(_cut, texts, chunksize=2000)
    lengths = np.array([min(most, len(each)) for each in found], dtype=np.int32)
    rows = np.zeros((len(texts), most), dtype=np.uint16)
    for row, numbers in zip(rows, found, strict=True):
        row[: min(most, len(numbers))] = numbers[:most]
    return Ragged(rows, lengths)


class Numbering:
    """A tokenizer as a function that worker processes can be given."""

    def __init__(self, folder: Path, *, words: bool, most: int) -> None:
        self._tokenizer = tokenizer(folder, words=words)
        self._most = most

    def __call__(self, text: str) -> list[int]:
        return [START, *self._tokenizer.numbers(text, most=self._most - 1)]


def lessons(pairs: Iterable[Sequence[str]], plain: Sequence[str]) -> list[Lesson]:
    """What stage A learns: pairs, pairs put together, names beside Chinese, and plain English."""
    chance = random.Random(SEED)
    rows = [tuple(pair) for pair in pairs]
    found = [
        Lesson(other, en, en, "zh" if lang.startswith("zh") else "other")
        for lang, en, other in rows
    ]
    chinese = [(en, other) for lang, en, other in rows if lang.startswith("zh") and len(other) < 40]
    found += [_together(chance, chinese) for _ in range(len(chinese) // 2)]
    short = [(en, other) for en, other in chinese if len(en.split()) <= 4 and en.isascii()]
    for en, other in chance.sample(short, len(short) // 3):
        found.append(Lesson(f"{'_'.join(en.lower().split())} {other}", en, en, "zh"))
    found += [Lesson(text, text, text, "english") for text in plain]
    return found


def _together(chance: random.Random, chinese: Sequence[tuple[str, str]]) -> Lesson:
    some = chance.sample(chinese, chance.choice((2, 2, 3)))
    english = ", ".join(en for en, _ in some)
    return Lesson("，".join(other for _, other in some), english, english, "zh")


_current: dict[str, Callable[[str], list[int]]] = {}


def _remember(cut: Callable[[str], list[int]]) -> None:
    _current["cut"] = cut


def _cut(text: str) -> list[int]:
    return _current["cut"](text)


def doc_texts(tool: Sequence[str]) -> tuple[str, str, str, str]:
    """A tool as text in four ways.

    Name and description; as a catalog has it, with its server and its parameters; without its
    name; as a catalog has it that knows no server.
    """
    server, name, description, parameters = tool
    return (
        _text(name, description),
        _text(server, name, description, parameters),
        description or name,
        _text(name, description, parameters),
    )


def _text(*parts: str) -> str:
    return "\n".join(filter(None, parts))
