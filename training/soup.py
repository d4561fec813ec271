"""Weights between two trained models, measured on the development sets: the best is kept.

python -m training.soup BUNDLE ONE OTHER OUT
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

from training import export, measure
from training.learning import save
from training.network import loaded

SHARES = (0.0, 0.3, 0.5, 0.7, 1.0)


def main() -> None:
    """Print the table of every share; save the best."""
    bundle, one, other, out = map(Path, sys.argv[1:5])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    sets = measure.load(bundle, words=True, device=device)
    first, second = export.shipped(one), export.shipped(other)
    best = 0.0
    for share in SHARES:
        encoder = loaded({k: v + np.float32(share) * (second[k] - v) for k, v in first.items()})
        table = measure.table(encoder.to(device).eval(), sets, 384, device)
        print(f"{share}: {json.dumps(table)}", flush=True)
        if table["mean"] > best:
            best = table["mean"]
            save(encoder, out, "model")


if __name__ == "__main__":
    main()
