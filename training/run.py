"""All of it, one command: fetch, gather, write, teach, distil, export.

    python -m training.run --work FOLDER --bench-dir SETS

The three in the middle want a GPU (half an hour of one H200). Where that is another machine, run
`--until gather` here, carry `training/`, `benchmarks/`, `src/`, the language model and WORK/texts
over, run the lines that `--show` prints there with PYTHONPATH=src:., bring the folders of the
students back, and run `--from export`. `--tiny` in place of `--bench-dir` goes the same way in a
minute, to see that it is passable.
"""

import argparse
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from training import corpus, export, fetch, recipe, reference, texts, tiny

ROOT = Path(__file__).parent.parent
MODEL = Path("src/toolcrib/embed/bundled/model")
REFERENCES = Path("tests/embed/bundled")
"""Where a checkout has its model, and what its tests hold that against."""
STEPS = ("fetch", "gather", "write", "teach", "distil", "export")
"""All there is to do, in order."""
LEARNING = {"write", "teach", "distil"}


class Work(NamedTuple):
    """The steps, each from the files of the one before."""

    folder: Path
    sets: Path
    into: Path
    recipe: recipe.Recipe

    @property
    def model(self) -> Path:
        """The language model that teaches."""
        return self.folder / "teacher.gguf"

    def do(self, step: str) -> None:
        if step in LEARNING:
            for command in self.commands(step):
                subprocess.run([sys.executable, *command], check=True, cwd=ROOT)
        else:
            getattr(self, step)()

    def fetch(self) -> None:
        if self.recipe.teacher:
            fetch.fetch(self.recipe.teacher, self.model)

    def gather(self) -> None:
        found = corpus.gather(self.sets / corpus.POOL, self.recipe.written)
        say(corpus.describe(found))
        texts.write(found, self.folder / "texts")

    def commands(self, step: str) -> list[list[str]]:
        """What Python is told in a step, here or elsewhere."""
        given, made, taught = (str(self.folder / name) for name in ("texts", "made", "taught"))
        model = str(self.model)
        said = {
            "write": [["training.writing", given, model, made, *self.recipe.write]],
            "teach": [["training.teach", made, model, str(MODEL), taught, *self.recipe.teach]],
            "distil": [
                ["training.distil", made, taught, str(MODEL), str(self.folder / name), *student]
                for name, student in self.recipe.students.items()
            ],
        }
        return [["-m", *command] for command in said[step]]

    def export(self) -> None:
        """The mix of the students and their beginning, and how PyTorch reads with it, for tests."""
        from training import graph  # noqa: PLC0415 - onnx is needed here alone

        start, model = ROOT / MODEL, self.into / MODEL
        references = self.into / REFERENCES
        begun = (export.shipped(start), export.shipped_query(start))
        tool, query = (
            export.mixed(
                was,
                [export.trained(self.folder / name, network) for name in self.recipe.students],
                self.recipe.shares,
            )
            for was, network in zip(begun, export.NETWORKS, strict=True)
        )
        export.export(tool, query, start, model)
        graph.write(model)
        reference.write(model, references / "reference.json")
        reference.write_query(model, references / "query_reference.json")


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m training.run",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--work", type=Path, required=True, help="where everything is put")
    sets = made.add_mutually_exclusive_group(required=True)
    sets.add_argument("--bench-dir", type=Path, help="the folder of sets")
    sets.add_argument(
        "--tiny", action="store_true", help="made-up text and few steps: tries the way, not a model"
    )
    made.add_argument(
        "--into",
        type=Path,
        help="the checkout that gets the model: this one (tiny: WORK/made)",
    )
    made.add_argument("--from", dest="first", choices=STEPS, default=STEPS[0])
    made.add_argument("--until", choices=STEPS, default=STEPS[-1])
    made.add_argument("--show", action="store_true", help="print the commands that want a GPU")
    return made


def work_of(said: argparse.Namespace) -> Work:
    folder = said.work.resolve()
    if said.tiny:
        return Work(folder, tiny.write(folder), said.into or folder / "made", tiny.recipe())
    return Work(folder, said.bench_dir, said.into or ROOT, recipe.full())


def main() -> None:
    arguments = parser()
    said = arguments.parse_args()
    first, last = STEPS.index(said.first), STEPS.index(said.until)
    if first > last:
        arguments.error(f"--until {said.until} comes before --from {said.first}")
    work = work_of(said)
    if said.show:
        lines = (shlex.join(["python", *each]) for s in STEPS[2:5] for each in work.commands(s))
        print("\n".join(lines))
        return
    for step in STEPS[first : last + 1]:
        say(step)
        work.do(step)


if __name__ == "__main__":
    main()
