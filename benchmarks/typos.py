"""How many typos are read as what was meant, and how much that was spelt right is changed.

    python -m benchmarks.typos --bench-dir DIR [--sets a,b]

In the English requests of each set one word in three gets a typo, drawn by a seed: two letters are
swapped, one is left out, doubled, or hit beside its key. A row a set: of these typos, how many are
read as the word, as another word, and left as they are; and how many words of the requests as they
were are changed. Some of the latter are typos that the sets have.
"""

import os
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.folder import SEED, BenchSet, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import table
from toolcrib.evaluate import EvalSuite
from toolcrib.index import MemoryEngine
from toolcrib.index.document import document_of
from toolcrib.text import Speller

MOST = 400
"""So many requests of a set are drawn."""
SHARE = 1 / 3
HEAD = ("set", ">typos", ">as meant, %", ">as another, %", ">left, %", ">words", ">changed")

_WORD = re.compile(r"(?<![\w.@/'-])[a-z]{4,}(?![\w.@/'-])")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = {key: row[max(at - 1, 0)] for row in _ROWS for at, key in enumerate(row)}


@dataclass(frozen=True, slots=True)
class TypoRow:
    """What became of the typos of one set, and of what was spelt right."""

    name: str
    meant: int
    other: int
    left: int
    words: int
    changed: int

    def cells(self) -> Sequence[str]:
        typos = self.meant + self.other + self.left
        shares = [
            f"{100 * each / max(typos, 1):.1f}" for each in (self.meant, self.other, self.left)
        ]
        return [self.name, f"{typos:,}", *shares, f"{self.words:,}", str(self.changed)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.typos", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--sets", default="", help="only these, with commas between")
    said = parser.parse_args(arguments)
    try:
        wanted = tuple(filter(None, said.sets.split(",")))
        sets = find_sets(bench_dir(said.bench_dir, os.environ), wanted).sets
    except NoBench as error:
        parser.error(str(error))
    print(table(HEAD, (row.cells() for row in map(measure, sets) if row.words)))


def measure(bench_set: BenchSet) -> TypoRow:
    """The row of one set."""
    suite = bench_set.load()
    requests = [case.query for case in suite.cases.values() if case.query.isascii()]
    drawn = Random(SEED).sample(requests, min(MOST, len(requests)))
    speller = _speller(suite)
    read = [_read(speller, word, typo) for text in drawn for word, typo in _typos(text, speller)]
    return TypoRow(
        bench_set.name,
        *(read.count(how) for how in ("meant", "other", "left")),
        words=sum(len(text.split()) for text in drawn),
        changed=sum(len(speller.correct(text).corrections) for text in drawn),
    )


def misspelt(word: str, random: Random) -> str:
    """A word of four letters or more with a typo in it, the first letter as it was."""
    at = random.randrange(1, len(word) - 1)
    match random.choice(("swap", "swap", "drop", "drop", "double", "beside")):
        case "swap":
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        case "drop":
            return word[:at] + word[at + 1 :]
        case "double":
            return word[:at] + word[at] + word[at:]
        case _:
            return word[:at] + _BESIDE[word[at]] + word[at + 1 :]


def _speller(suite: EvalSuite) -> Speller:
    engine = MemoryEngine()
    engine.rebuild(
        document_of(tool.info(), id=id, bare=tool.name) for id, tool in suite.tools.items()
    )
    with engine.view() as view:
        return view.speller()


def _typos(text: str, speller: Speller) -> Iterator[tuple[str, str]]:
    """Words of the text and their typos; none that is a word itself."""
    random = Random(text)
    for word in _WORD.findall(text):
        if random.random() < SHARE and speller.knows(word):
            typo = misspelt(word, random)
            if not speller.knows(typo):
                yield word, typo


def _read(speller: Speller, word: str, typo: str) -> str:
    meant = speller.meant(typo)
    return "left" if not meant else "meant" if meant == word else "other"


if __name__ == "__main__":
    main()
