import numpy as np
import pytest

from toolcrib.embed.bundled import network as bundled
from toolcrib.embed.bundled.network import ROOM, ROWS, Linear, Network, gelu, matrix

WIDTH, INNER, TOKENS = 24, 48, 8


def stored(seed: int = 3, layers: int = 2, pieces: int = 9, positions: int = 6):
    chance = np.random.default_rng(seed)
    shapes = {
        "qkv": (3 * WIDTH, WIDTH),
        "out": (WIDTH, WIDTH),
        "up": (INNER, WIDTH),
        "down": (WIDTH, INNER),
    }
    arrays = {}

    def put(name: str, shape: tuple[int, int]) -> None:
        arrays[name] = chance.integers(-127, 128, shape).astype(np.int8)
        arrays[f"{name}.step"] = np.full(shape[0], 0.004, np.float16)

    def norm(name: str) -> None:
        arrays[f"{name}.weight"] = np.ones(WIDTH, np.float16)
        arrays[f"{name}.bias"] = np.zeros(WIDTH, np.float16)

    put("words.weight", (pieces, WIDTH))
    put("tokens.weight", (TOKENS, WIDTH))
    put("weigh.weight", (1, WIDTH))
    arrays["weigh.bias"] = np.zeros(1, np.float16)
    put("positions.weight", (positions, WIDTH))
    norm("norm")
    for layer in range(layers):
        for name, shape in shapes.items():
            put(f"layers.{layer}.{name}.weight", shape)
            arrays[f"layers.{layer}.{name}.bias"] = np.zeros(shape[0], np.float16)
        norm(f"layers.{layer}.norm1")
        norm(f"layers.{layer}.norm2")
    return arrays


@pytest.fixture
def network() -> Network:
    return Network(stored())


def test_a_row_is_the_same_alone_and_beside_longer_ones(network):
    together = network([[1, 4, 5, 6, 7], [1, 2, 3], [1, 3, 3], [1, 8]])
    alone = network([[1, 2, 3]])
    np.testing.assert_allclose(together.vectors[1], alone.vectors[0], atol=1e-6)
    np.testing.assert_allclose(together.tokens[5:8], alone.tokens, atol=1e-6)
    np.testing.assert_allclose(together.weights[5:8], alone.weights, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(together.vectors, axis=1), 1, rtol=1e-6)


def test_order_and_every_piece_count(network):
    rows = network([[1, 2, 3], [1, 3, 2], [1, 2, 4]]).vectors
    assert len(np.unique(rows.round(4), axis=0)) == 3


def test_a_token_has_a_short_vector_and_a_weight_of_its_own(network):
    read = network([[1, 2, 3], [1, 2, 4]])
    assert read.tokens.shape == (6, TOKENS)
    np.testing.assert_allclose(np.linalg.norm(read.tokens, axis=1), 1, rtol=1e-5)
    assert ((read.weights > 0) & (read.weights < 1)).all()
    assert not np.allclose(read.tokens[1], read.tokens[4], atol=1e-4)  # read in its context
    assert len(np.unique(read.weights.round(4))) > 3


def test_a_stored_row_is_its_numbers_times_its_step():
    arrays = {"w": np.array([[2, -3], [1, 0]], np.int8), "w.step": np.array([0.5, 2], np.float16)}
    np.testing.assert_array_equal(matrix(arrays, "w"), [[1, -1.5], [2, 0]])


def test_gelu_at_known_places():
    x = np.array([-10, -1, 0, 1, 3], np.float32)
    np.testing.assert_allclose(gelu(x), [0, -0.15866, 0, 0.84134, 2.99595], atol=5e-4)


def test_many_rows_are_read_as_few_are(network):
    many = [[1, 2, 3, 4, 5]] * 90
    whole, alone = network(many), network(many[:1])
    np.testing.assert_allclose(whole.vectors[-1], alone.vectors[0], atol=1e-6)
    np.testing.assert_allclose(whole.tokens[-5:], alone.tokens, atol=1e-6)


def test_texts_of_one_length_in_several_runs_are_read_as_in_one(network, monkeypatch):
    texts = [[1, 2, 3], [1, 3, 3], [1, 4, 2], [1, 8]]
    whole = network(texts)
    monkeypatch.setattr(bundled, "SCORES", 2 * bundled.HEADS * 3 * 3)
    parts = network(texts)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_gelu_of_many_rows_is_that_of_each():
    x = np.random.default_rng(1).normal(size=(2 * ROWS + 1, 3)).astype(np.float32)
    np.testing.assert_array_equal(gelu(x.copy()), np.concatenate([gelu(row) for row in x[:, None]]))


@pytest.mark.parametrize("rows", [1, 40, 300])
@pytest.mark.parametrize(("of", "to"), [(384, 128), (768, 384), (24, 48), (384, 65)])
@pytest.mark.parametrize("room", [768, 7_000, ROOM])
def test_a_product_is_the_same_in_parts_and_whole(rows, of, to, room):
    chance = np.random.default_rng(1)
    x = chance.normal(size=(rows, of)).astype(np.float32)
    weight = chance.integers(-127, 128, (to, of)).astype(np.int8)
    kept = {"w": weight, "w.step": chance.uniform(0.001, 0.02, to).astype(np.float16)}
    bias = np.arange(to, dtype=np.float32)
    expected = x.astype(np.float64) @ matrix(kept, "w").T + bias
    linear = Linear(weight, kept["w.step"].astype(np.float32), bias)
    product = linear(x, np.full(room, np.nan, np.float32))
    np.testing.assert_allclose(product, expected, rtol=1e-3, atol=1e-3)
