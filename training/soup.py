"""Weights between two trained models, measured on the development sets: the best is kept.

python -m training.soup BUNDLE ONE.npz OTHER.npz OUT
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

from training import measure
from training.learning import save
from training.network import POSITIONS, Encoder

SHARES = (0.0, 0.3, 0.5, 0.7, 1.0)


def weights(file: Path) -> dict[str, torch.Tensor]:
    """What a shipped model says, in full."""
    with np.load(file) as stored:
        return {
            name: torch.from_numpy(
                stored[name].astype(np.float32)
                * (
                    stored[f"{name}.step"].astype(np.float32)[:, None]
                    if f"{name}.step" in stored
                    else 1
                )
            )
            for name in stored.files
            if not name.endswith(".step")
        }


def main() -> None:
    """Print the table of every share; save the best."""
    bundle, one, other, out = map(Path, sys.argv[1:5])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    sets = measure.load(bundle, words=True, device=device)
    first, second = weights(one), weights(other)
    best = 0.0
    for share in SHARES:
        encoder = Encoder(len(first["words.weight"]), POSITIONS, 6)
        encoder.load_state_dict({k: torch.lerp(v, second[k], share) for k, v in first.items()})
        table = measure.table(encoder.to(device).eval(), sets, 384, device)
        print(f"{share}: {json.dumps(table)}", flush=True)
        if table["mean"] > best:
            best = table["mean"]
            save(encoder, out, "model")


if __name__ == "__main__":
    main()
