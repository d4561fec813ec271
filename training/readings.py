"""Keep how the model that ships reads the texts that search reads again and again.

    python -m training.readings

Run it whenever its network for tools is another: a test holds the one against the other.
"""

from importlib.resources import files
from pathlib import Path

from toolcrib.embed.bundled.embedder import BundledEmbedder
from toolcrib.embed.bundled.weights import save_readings
from toolcrib.search.confidence import BROAD

TEXTS = (BROAD,)


def main() -> None:
    folder = Path(str(files("toolcrib.embed.bundled"))) / "model"
    save_readings({}, folder)
    readings = BundledEmbedder().read(TEXTS)
    save_readings(dict(zip(TEXTS, readings, strict=True)), folder)


if __name__ == "__main__":
    main()
