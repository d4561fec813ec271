"""What PyTorch makes of some texts with the shipped weights: the tests hold numpy against it."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from toolcrib.embed.bundled.embedder import MOST_PIECES, START, load_tokenizer
from training import export
from training.network import Encoder, loaded

TEXTS = (
    "read a file",
    "getWeatherForecast: the weather in a city, for up to 7 days",
    "帮我查询明天北京的天气预报",
    "把檔案下載到我的電腦",
    "Envoyer un e-mail à mon équipe",
    "удалить файл",
    "create_github_issue 在 GitHub 上新建一个问题",
)
KEPT = 8
"""How many of the numbers of each vector are stored: they depend on all of the network."""


def references(model: Path, encoder: Encoder) -> list[dict[str, object]]:
    """Each text with its piece numbers and the first numbers of its vector."""
    tokenizer = load_tokenizer(model)
    found: list[dict[str, object]] = []
    for text in TEXTS:
        numbers = tokenizer.numbers(text, most=MOST_PIECES)
        with torch.no_grad():
            read = encoder.eval().read(torch.tensor([[START, *numbers]]))
        found.append(
            {
                "text": text,
                "numbers": numbers,
                "vector": read.vectors[0, :KEPT].tolist(),
                "token": read.tokens[0, -1, :KEPT].tolist(),
                "weights": read.weights[0, 1:].tolist(),
            }
        )
    return found


def write(model: Path, out: Path) -> None:
    """Write those of the model in a folder to a file."""
    _write(references(model, loaded(export.shipped(model))), out)


def write_query(model: Path, out: Path) -> None:
    """The same of its network for queries."""
    _write(references(model, loaded(export.shipped_query(model))), out)


def _write(rows: Sequence[object], out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    sys.stderr.write(f"{len(rows)} texts in {out}\n")
