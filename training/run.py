"""All of it, one command: fetch, gather, bundle, train, export.

    python -m training.run --work FOLDER --bench-dir FOLDER

Training wants a GPU (about half an hour on one H200, 12 minutes with `--go-on`). Where that is
another machine, run `--until bundle` here, carry `training/`, `benchmarks/`, the tokenizer and
WORK/bundle over, run the lines that `--show` prints there, bring WORK/learned back, and run
`--from export`.
`--go-on` keeps the pieces of the model that is shipped and has only the last stage learned again,
from its weights. `--tiny` in place of `--bench-dir` goes the same way in a minute, to see that it
is passable.
"""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from training import (
    arguments,
    bundle,
    corpus,
    export,
    fetch,
    graph,
    parallel,
    recipe,
    reference,
    teacher,
    tiny,
    vocabulary,
)

MODEL = Path("src/toolcrib/embed/bundled/model")
REFERENCE = Path("tests/embed/bundled/reference.json")
"""Where a checkout has its model, and what its tests hold that against."""


class Work(NamedTuple):
    """The steps, each from the files of the one before."""

    folder: Path
    sets: Path
    into: Path
    recipe: recipe.Recipe
    go_on: bool = False

    @property
    def bundled(self) -> Path:
        return self.folder / "bundle"

    @property
    def learned(self) -> Path:
        return self.folder / "learned"

    def fetch(self) -> None:
        fetch.fetch_all([*self.recipe.packages, fetch.TEACHER, fetch.CHARACTERS], self.folder)

    def gather(self) -> None:
        folders = {each.folder: each.place(self.folder) for each in self.recipe.packages}
        count = parallel.write(parallel.gather(folders), self.folder / "pairs.jsonl")
        say(f"{count} pairs")

    def bundle(self) -> None:
        names = frozenset(package.folder for package in self.recipe.packages)
        pairs, pool = self.folder / "pairs.jsonl", self.sets / arguments.POOL
        gathered = corpus.gather(pairs, pool, names, self.recipe.ours)
        say(bundle.describe(gathered))
        corpus.write(gathered, self.bundled)
        self._choose_pieces(gathered)
        teacher.carry(fetch.TEACHER.place(self.folder), self.bundled)
        say("bundle: compress")
        bundle.development(self.sets, self.bundled)
        bundle.packed(self.bundled)

    def _choose_pieces(self, gathered: corpus.Corpus) -> None:
        if self.go_on:
            export.carry(arguments.ROOT / MODEL, self.bundled)
            return
        say("bundle: choose the pieces")
        simplified = vocabulary.simplified_characters(fetch.CHARACTERS.place(self.folder))
        vocab = next(fetch.TEACHER.place(self.folder).rglob("vocab.txt"))
        pieces = vocabulary.choose(
            corpus.english_texts(gathered),
            gathered.pairs,
            vocab.read_text(encoding="utf-8").splitlines(),
            simplified,
        )
        (self.bundled / "pieces.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
        table = "".join(f"{old}\t{new}\n" for old, new in simplified.items())
        (self.bundled / "simplified.tsv").write_text(table, encoding="utf-8")

    def train(self) -> None:
        for command in self.commands():
            subprocess.run([sys.executable, *command], check=True)

    def commands(self) -> list[list[str]]:
        """What Python is told to train, here or elsewhere: two, their mix, fits, the mix of all."""
        plans, fits = self.recipe.plans, self.recipe.fits
        start = self.folder / "mixed"
        train = [["training.train", self.bundled, self.folder / n, *p] for n, p in plans.items()]
        fit = [["training.fit", self.bundled, start, self.folder / n, *p] for n, p in fits.items()]
        mix = ["training.mix", start, self.recipe.share, *(self.folder / name for name in plans)]
        last = ["training.mix", self.learned, self.recipe.fit_share, start]
        before = [["training.export", MODEL, start]] if self.go_on else [*train, mix]
        counted = [self.folder / n for n in fits for _ in range(self.recipe.counts.get(n, 1))]
        every = [*before, *fit, [*last, *counted]]
        return [["-m", *map(str, command)] for command in every]

    def export(self) -> None:
        trained = export.trained(self.learned, "model")
        export.export(trained, self.bundled, self.into / MODEL)
        graph.write(self.into / MODEL)
        reference.write(self.into / MODEL, self.into / REFERENCE)


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main() -> None:
    said = arguments.read(None, __doc__)
    if said.sets:
        work = Work(said.work, said.sets, said.into, recipe.full(), said.go_on)
    else:
        work = Work(said.work, tiny.write(said.work), said.into, tiny.recipe(), said.go_on)
    if said.show:
        print("\n".join(shlex.join(["python", *command]) for command in work.commands()))
        return
    for name in said.steps:
        say(name)
        getattr(work, name)()


if __name__ == "__main__":
    main()
