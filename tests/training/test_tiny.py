"""The made-up input of a tiny training, as far as it can be followed without PyTorch."""

import json
import lzma

import numpy as np
import pytest

from training import bundle, corpus, fetch, parallel, requests, teacher, tiny
from training.tensors import lessons, lines


@pytest.fixture
def gathered(tmp_path):
    sets = tiny.write(tmp_path)
    recipe = tiny.recipe()
    found = (
        pair
        for each in recipe.packages
        for pair in parallel.pairs(each.place(tmp_path), each.folder)
    )
    parallel.write(found, tmp_path / "pairs.jsonl")
    names = frozenset(package.folder for package in recipe.packages)
    pool = sets / "train_pool"
    return corpus.gather(tmp_path / "pairs.jsonl", pool, names, recipe.ours)


def test_nothing_is_left_to_fetch(tmp_path, monkeypatch):
    tiny.write(tmp_path)
    monkeypatch.setattr(fetch.subprocess, "run", None)
    fetch.fetch_all([*tiny.recipe().packages, fetch.TEACHER, fetch.CHARACTERS], tmp_path)


def test_every_language_and_every_kind_of_query_is_in_it(gathered, tmp_path):
    assert {pair.language for pair in gathered.pairs} == set(parallel.LANGUAGES)
    assert {source for source, _, _ in gathered.queries} == {
        "metatool",
        "mcp",
        "mcp_name",
        "mcp_zh",
        *requests.SOURCES.values(),
        *requests.FUNCTION_SOURCES.values(),
        "own_typo",
        requests.TASK,
        requests.NONE,
    }
    assert gathered.tools[tiny.TOOLS].description != gathered.tools[tiny.TOOLS + 1].description
    assert len(gathered.tools) == tiny.TOOLS + 4
    assert any(pair.package == "own" for pair in gathered.pairs)


def test_what_travels_can_be_read_again(gathered, tmp_path):
    out = tmp_path / "bundle"
    corpus.write(gathered, out)
    bundle.development(tmp_path / "sets", out)
    bundle.packed(out)
    assert not list(out.glob("*.tsv"))
    rows = lines(out / "pairs.tsv")
    assert [row[0] for row in rows] == [pair.language for pair in gathered.pairs]
    plain = [row[1] for row in lines(out / "tools.tsv")]
    assert {lesson.kind for lesson in lessons(rows, plain)} == {"zh", "other", "english"}


def test_the_teacher_is_rounded_and_renamed(tmp_path):
    tiny.write(tmp_path)
    teacher.carry(fetch.TEACHER.place(tmp_path), tmp_path)
    vocabulary = (tmp_path / "teacher_vocab.txt").read_text(encoding="utf-8").splitlines()
    with np.load(tmp_path / "teacher.npz") as arrays:
        words = arrays["words"] * arrays["words.scale"]
        assert words.shape == (len(vocabulary), 384)
        assert arrays["words"].dtype == np.int8
        assert arrays["layers.5.qkv.weight"].shape == (3 * 384, 384)
        assert arrays["layers.0.up.weight"].dtype == np.float16
    [first] = tiny._weights(1)["embeddings.word_embeddings.weight"]
    np.testing.assert_allclose(words[0], first, atol=np.abs(first).max() / 127)


def test_a_set_says_which_tools_are_right(tmp_path):
    bundle.development(tiny.write(tmp_path), tmp_path)
    with lzma.open(tmp_path / "dev.jsonl.xz", "rt", encoding="utf-8") as file:
        [row] = map(json.loads, file)
    ids = [tool[0] for tool in row["tools"]]
    assert [query["relevant"] for query in row["queries"]] == [[id] for id in ids]
    assert len(ids) == tiny.ASKED
    assert row["none"] == [{"query": "good morning"}]
