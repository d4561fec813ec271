"""What one can say to `python -m training.run`."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

STEPS = ("fetch", "gather", "bundle", "train", "export")
"""All there is to do, in order."""
POOL = "train_pool"
"""The folder of the sets that is learned from."""
ROOT = Path(__file__).parent.parent


class Said(NamedTuple):
    """What was asked for; `sets` is None for a tiny run, which makes its own."""

    work: Path
    sets: Path | None
    into: Path
    steps: Sequence[str]
    show: bool
    go_on: bool


def read(arguments: Sequence[str] | None, description: str | None) -> Said:
    """The command line, or an end with what is wrong with it."""
    parser = _parser(description)
    said = parser.parse_args(arguments)
    first, last = STEPS.index(said.first), STEPS.index(said.until)
    if first > last:
        parser.error(f"--until {said.until} comes before --from {said.first}: {' '.join(STEPS)}")
    steps = STEPS[first : last + 1]
    needs_sets = "bundle" in steps and not (said.tiny or said.show)
    if needs_sets and not (said.bench_dir / POOL).is_dir():
        parser.error(f"--bench-dir: no folder {POOL} in {said.bench_dir}")
    work = said.work / "tiny" if said.tiny else said.work  # nothing real is written over
    into = said.into or (work / "made" if said.tiny else ROOT)
    return Said(work, said.bench_dir, into, steps, said.show, said.go_on)


def _parser(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.run",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--work", type=Path, required=True, help="where everything is put")
    sets = parser.add_mutually_exclusive_group(required=True)
    sets.add_argument("--bench-dir", type=Path, help="the folder of sets")
    sets.add_argument(
        "--tiny", action="store_true", help="made-up text and few steps: tries the way, not a model"
    )
    parser.add_argument(
        "--into",
        type=Path,
        help="the checkout that gets the model: this one (tiny: WORK/tiny/made)",
    )
    parser.add_argument("--from", dest="first", choices=STEPS, default=STEPS[0])
    parser.add_argument("--until", choices=STEPS, default=STEPS[-1])
    parser.add_argument(
        "--go-on", action="store_true", help="from the model that is shipped: the last stage alone"
    )
    parser.add_argument("--show", action="store_true", help="print the commands that train")
    return parser
