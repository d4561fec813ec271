"""Put a student of `training.query_student` beside the model that taught it.

    python -m training.query_export STUDENT MODEL REFERENCE

MODEL is the folder of that model, REFERENCE gets what PyTorch makes of some texts with the student.
"""

import sys
from pathlib import Path

import numpy as np

from toolcrib.embed.bundled.weights import QUERY_WEIGHTS
from training import export, reference


def export_query(student: Path, model: Path) -> None:
    """Write the student as the package ships it."""
    with np.load(student) as file:
        arrays = {name: file[name].astype(np.float32) for name in file.files}
    np.savez(model / QUERY_WEIGHTS, **export.rounded_all(arrays))


if __name__ == "__main__":
    student, model, out = map(Path, sys.argv[1:])
    export_query(student, model)
    reference.write_query(model, out)
