"""Keep how the model that ships reads the texts that search reads again and again.

    python -m training.readings

Run it whenever its network for tools is another: a test holds the one against the other.
"""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from toolcrib.embed.bundled.embedder import BundledEmbedder
from toolcrib.embed.bundled.weights import PARTS, READINGS
from toolcrib.embed.protocol import TextReading
from toolcrib.search.confidence import BROAD

TEXTS = (BROAD,)


def main() -> None:
    folder = Path(str(files("toolcrib.embed.bundled"))) / "model"
    _save({}, folder)
    readings = BundledEmbedder().read(TEXTS)
    _save(dict(zip(TEXTS, readings, strict=True)), folder)


def _save(readings: Mapping[str, TextReading], folder: Path) -> None:
    """Write what the model in a folder has read."""
    named: dict[str, Any] = {
        f"{text}.{part}": value
        for text, reading in readings.items()
        for part, value in zip(PARTS, reading, strict=True)
    }
    np.savez(folder / READINGS, **named)


if __name__ == "__main__":
    main()
