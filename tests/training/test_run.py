"""All the way to a model, by the one command, with a tiny recipe."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from toolcrib.embed.bundled.embedder import START, load_tokenizer, many_texts_network
from toolcrib.embed.bundled.network import Network
from toolcrib.embed.bundled.onnx import OnnxNetwork
from toolcrib.embed.bundled.weights import (
    QUERY_WEIGHTS,
    READINGS,
    load_query_weights,
    load_weights,
)
from training import tiny

ROOT = Path(__file__).parents[2]
SHIPPED = Path(str(files("toolcrib.embed.bundled"))) / "model"
MISSING = [
    name for name in ("jieba", "onnx", "safetensors", "tokenizers", "torch") if not find_spec(name)
]
# One thread: two that wait for each other on a busy machine take five times as long.
SETTINGS = {"OMP_NUM_THREADS": "1", "PIP_NO_INDEX": "1", "npm_config_offline": "true"}


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
    model = tmp_path / "tiny/made/src/toolcrib/embed/bundled/model"
    assert times(model).keys() == before.keys() - {QUERY_WEIGHTS, READINGS}
    written = tmp_path / "tiny/made/tests/embed/bundled/reference.json"
    rows = json.loads(written.read_text(encoding="utf-8"))
    assert any(row["numbers"] for row in rows)
    for network in (Network(load_weights(model)), many_texts_network(model)):
        assert network
        check(network, model, rows)


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


def test_a_small_student_of_the_shipped_model_is_taught_and_runs(tmp_path):
    texts, student, written = (tmp_path / name for name in ("t.npz", "s.npz", "reference.json"))
    sets, model = tiny.write(tmp_path / "tiny"), tmp_path / "model"
    copytree(SHIPPED, model)
    (model / QUERY_WEIGHTS).unlink()
    python("training.query_texts", str(texts), "--bench-dir", str(sets), "--made", "50")
    learn = "--layers 0 5 --inner 64 --seconds 20 --tokens 800 --bank 40 --measured 20".split()
    python("training.query_student", str(texts), str(model), str(student), *learn)
    python("training.query_export", str(student), str(model), str(written))
    small = load_query_weights(model)
    assert small["layers.1.up.weight"].shape == (64, 384)
    assert "layers.2.up.weight" not in small
    check(Network(small), model, json.loads(written.read_text(encoding="utf-8")))


def test_the_last_mix_counts_each_fit_as_often_as_the_recipe_says():
    command = [sys.executable, "-m", "training.run", "--work", "w", "--bench-dir", "s"]
    done = subprocess.run(
        [*command, "--go-on", "--show"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    export, *fits, mix = done.stdout.splitlines()
    assert export.endswith("training.export src/toolcrib/embed/bundled/model w/mixed")
    assert [line.split()[3:6] for line in fits] == [
        ["w/bundle", "w/mixed", f"w/fit-{number}"] for number in (1, 2, 3)
    ]
    assert mix.split()[3:] == ["w/learned", "0.85", "w/mixed", *(f"w/fit-{n}" for n in "11223")]


def test_a_bundle_is_the_same_every_time(tmp_path):
    for name in ("one", "other"):
        run(tmp_path / name, "--until", "bundle")
    one, other = (sorted((tmp_path / name / "tiny/bundle").iterdir()) for name in ("one", "other"))
    assert len(one) == 8
    for file, again in zip(one, other, strict=True):
        assert file.read_bytes() == again.read_bytes(), file.name
