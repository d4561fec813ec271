"""All the way to a model, by the one command, with a tiny recipe."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolcrib.embed.bundled.embedder import START, load_tokenizer, many_texts_network
from toolcrib.embed.bundled.network import Network
from toolcrib.embed.bundled.onnx import OnnxNetwork
from toolcrib.embed.bundled.weights import (
    READINGS,
    load_query_weights,
    load_weights,
)

ROOT = Path(__file__).parents[2]
SHIPPED = Path(str(files("toolcrib.embed.bundled"))) / "model"
MISSING = [name for name in ("onnx", "tokenizers", "torch") if not find_spec(name)]
# One thread: two that wait for each other on a busy machine take five times as long.
SETTINGS = {"OMP_NUM_THREADS": "1", "PIP_NO_INDEX": "1"}


pytestmark = [
    pytest.mark.extras,
    pytest.mark.skipif(bool(MISSING), reason=f"no {', '.join(MISSING)}: run `make extras`"),
]


def run(work: Path, *more: str) -> None:
    python("training.run", "--tiny", "--work", str(work), *more)


def python(module: str, *arguments: str) -> None:
    command = [sys.executable, "-m", module, *arguments]
    env = {**os.environ, **SETTINGS}
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr


def times(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}


def test_a_tiny_model_is_made_by_one_command_and_runs(tmp_path):
    before = times(SHIPPED)
    run(tmp_path)
    assert times(SHIPPED) == before
    model = tmp_path / "made/src/toolcrib/embed/bundled/model"
    assert times(model).keys() == before.keys() - {READINGS}
    references = tmp_path / "made/tests/embed/bundled"
    rows = json.loads((references / "reference.json").read_text(encoding="utf-8"))
    assert any(row["numbers"] for row in rows)
    for network in (Network(load_weights(model)), many_texts_network(model)):
        assert network
        check(network, model, rows)
    rows = json.loads((references / "query_reference.json").read_text(encoding="utf-8"))
    check(Network(load_query_weights(model)), model, rows)


def check(network: Network | OnnxNetwork, model: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """That a network reads as PyTorch does."""
    for row in rows:
        assert load_tokenizer(model).numbers(row["text"], most=127) == row["numbers"]
        read = network([[START, *row["numbers"]]])
        [vector] = read.vectors
        np.testing.assert_allclose(vector[: len(row["vector"])], row["vector"], atol=2e-3)
        token = read.tokens[-1, : len(row["token"])]
        np.testing.assert_allclose(token, row["token"], atol=2e-3)
        np.testing.assert_allclose(read.weights[1:], row["weights"], atol=2e-3)


def test_the_commands_for_another_machine_are_shown():
    command = [sys.executable, "-m", "training.run", "--work", "/w", "--bench-dir", "s", "--show"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line.split()[2:] for line in done.stdout.splitlines()]
    assert [
        row[0].removeprefix("training.") for row in rows
    ] == "writing teach distil distil".split()
    assert rows[0][1:4] == ["/w/texts", "/w/teacher.gguf", "/w/made"]
    assert rows[3][1:3] == ["/w/made", "/w/taught"]


def test_steps_that_end_before_they_begin_are_refused(tmp_path):
    command = [sys.executable, "-m", "training.run", "--work", str(tmp_path), "--bench-dir", "s"]
    more = ["--from", "export", "--until", "teach"]
    done = subprocess.run([*command, *more], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "--until teach comes before --from export" in done.stderr
    assert done.returncode == 2


def test_what_is_gathered_is_the_same_every_time(tmp_path):
    for name in ("one", "other"):
        run(tmp_path / name, "--until", "gather")
    one, other = (sorted((tmp_path / name / "texts").iterdir()) for name in ("one", "other"))
    assert len(one) == 2
    for file, again in zip(one, other, strict=True):
        assert file.read_bytes() == again.read_bytes(), file.name


def test_numbers_of_four_and_six_bits_are_read_as_they_are_meant():
    """A block of each kind, its numbers beside what the definition of the format makes of them."""
    torch, gguf = pytest.importorskip("torch"), pytest.importorskip("training.gguf")
    half = np.array([0.5], np.float16).tobytes()
    scales = bytes([3] * 4 + [1] * 4 + [0x12] * 4)
    four = np.frombuffer(half + half + scales + bytes([0x21] * 128), np.uint8)
    [first] = gguf._q4(torch.from_numpy(four.copy())[None])
    assert first.shape == (8, 32)
    assert first[0, 0] == 0.5 * 3 * 1 - 0.5 * 1
    assert first[1, 0] == 0.5 * 3 * 2 - 0.5 * 1
    assert first[5, 0] == 0.5 * 2 * 2 - 0.5 * 1
    six = np.frombuffer(bytes([0x21] * 128) + bytes([0xE4] * 64) + bytes([2] * 16) + half, np.uint8)
    [second] = gguf._q6(torch.from_numpy(six.copy())[None])
    assert second.flatten()[[0, 32, 64, 96]].tolist() == [1 - 32, 17 - 32, 34 - 32, 50 - 32]
