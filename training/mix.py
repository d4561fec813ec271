"""Weights between those of trained models, which know more than either.

    python -m training.mix OUT SHARE START OTHER [OTHER ...]

A share of 0 is the model to start from, 1 the mean of the others; one that is named twice counts
double. `training.soup` measures shares.
"""

import argparse
from pathlib import Path

import numpy as np

from training import export


def mixed(start: Path, others: list[Path], share: float) -> dict[str, export.Floats]:
    """The weights of folders that training wrote, mixed."""
    first = export.trained(start, "model")
    rest = [export.trained(folder, "model") for folder in others]
    means = {name: np.mean([each[name] for each in rest], axis=0) for name in rest[0]}
    return {
        name: first[name] + share * (mean - first[name]) if name in first else mean
        for name, mean in means.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.mix", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("share", type=float)
    parser.add_argument("start", type=Path)
    parser.add_argument("others", type=Path, nargs="+")
    said = parser.parse_args()
    export.store(mixed(said.start, said.others, said.share), said.out, "model")


if __name__ == "__main__":
    main()
