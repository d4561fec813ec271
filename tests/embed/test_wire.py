import json

import numpy as np
import pytest

from toolcrib.embed.openai import request_body, vectors_in

ONE = {"index": 0, "embedding": [1, 0]}
TWO = {"index": 1, "embedding": [0, 1]}


def answer(data) -> bytes:
    return json.dumps({"data": data}).encode()


def test_a_request_is_these_bytes():
    body = request_body("m", ['say "hi"', "读"], None)
    assert body == '{"model":"m","input":["say \\"hi\\"","读"]}'.encode()
    assert json.loads(request_body("m", ["a"], 256))["dimensions"] == 256


@pytest.mark.parametrize(
    "data",
    [
        [ONE, TWO],
        [TWO, ONE],
        [{"embedding": [1, 0]}, {"embedding": [0, 1]}],
        [{"embedding": [1, 0]}, TWO],
    ],
    ids=["in order", "out of order", "no index", "no zero"],
)
def test_vectors_stand_in_the_order_of_the_texts(data):
    np.testing.assert_array_equal(
        vectors_in(answer(data), count=2, dimensions=None), [[1, 0], [0, 1]]
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff",
        b"[]",
        b"{}",
        b"null",
        b"[" * 100_000,
        b'{"data": null}',
        b'{"data": 1}',
        b'{"data": {"a": 1}}',
        answer([1, 2]),
        answer([{"index": 0}, TWO]),
        answer([{"index": [], "embedding": [1, 0]}, TWO]),
        answer([ONE, TWO, TWO]),
        answer([ONE, ONE]),
    ],
)
def test_no_answer_says_so(body):
    with pytest.raises(ValueError, match="not JSON with a list `data` of embeddings"):
        vectors_in(body, count=2, dimensions=None)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [ONE],
        [ONE, {**TWO, "index": 2}],
        [ONE, {**TWO, "index": -1}],
        [ONE, {**TWO, "index": "1"}],
        [ONE, TWO, {**TWO, "index": 2}],
    ],
)
def test_another_number_of_vectors_is_no_answer(data):
    with pytest.raises(ValueError, match="not one vector for each of 2 texts"):
        vectors_in(answer(data), count=2, dimensions=None)
