"""A new file is for its owner's eyes only, and so is every folder made for it."""

import os
from pathlib import Path


def make_private(path: Path) -> None:
    """Make an empty file, and the folders above it, where there is none yet."""
    for folder in reversed(path.parents):
        folder.mkdir(mode=0o700, exist_ok=True)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
