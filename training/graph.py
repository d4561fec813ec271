"""The network as an ONNX graph without weights: `toolcrib.embed.bundled.onnx` runs it.

The same sums in the same order as there. The weights stay where they are, in `weights.npz`: the
graph names them, and they are given to it when it is opened.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from toolcrib.embed.bundled.network import EPSILON, HEADS
from toolcrib.embed.bundled.weights import load_weights
from toolcrib.embed.protocol import TOKEN_WIDTH

OPSET = 20
IR_VERSION = 10
FLOAT, INT8, INT64 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.INT64


class Graph:
    """Nodes, one after the other; what is made is named by its number."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.given: list[onnx.TensorProto] = []
        self.fixed: list[onnx.TensorProto] = []

    def __call__(self, kind: str, *inputs: str, **attributes: object) -> str:
        """One more node; the name of what it makes."""
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: object, kind: int = FLOAT) -> str:
        name = f"constant_{len(self.fixed)}"
        array = np.asarray(value)
        self.fixed.append(helper.make_tensor(name, kind, array.shape, array.flatten().tolist()))
        return name

    def weight(self, name: str, shape: tuple[int, ...], kind: int = FLOAT) -> str:
        """A weight that is given when the graph is opened."""
        tensor = TensorProto(name=name, data_type=kind, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights")
        self.given.append(tensor)
        return name


def build(pieces: int, positions: int, layers: int, width: int, inner: int) -> onnx.ModelProto:
    """The graph of a network of this size: numbers (a row a text, 0 is padding) to readings."""
    graph = Graph()
    real = graph("Greater", "numbers", graph.constant(0, INT64))
    x = _embedded(graph, pieces, positions, width)
    hidden = _hidden(graph, real)
    for number in range(layers):
        x = _layer(graph, f"layers.{number}.", x, hidden, width, inner)
    made = {"vectors": _mean(graph, x, real), "tokens": _tokens(graph, x, width)}
    made["weights"] = _weights(graph, x, width)
    graph.nodes += [helper.make_node("Identity", [each], [name]) for name, each in made.items()]
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "toolcrib",
            [helper.make_tensor_value_info("numbers", INT64, ["texts", "length"])],
            [
                helper.make_tensor_value_info("vectors", FLOAT, ["texts", width]),
                helper.make_tensor_value_info("tokens", FLOAT, ["texts", "length", TOKEN_WIDTH]),
                helper.make_tensor_value_info("weights", FLOAT, ["texts", "length"]),
            ],
            [*graph.fixed, *graph.given],
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="toolcrib",
    )


def _embedded(graph: Graph, pieces: int, positions: int, width: int) -> str:
    rows = graph("Gather", graph.weight("words.weight", (pieces, width), INT8), "numbers")
    steps = graph("Gather", graph.weight("words.weight.step", (pieces, 1)), "numbers")
    words = graph("Mul", graph("Cast", rows, to=FLOAT), steps)
    shape = graph("Shape", "numbers", start=1, end=2)
    first = graph.constant([0], INT64)
    places = graph("Slice", graph.weight("positions.weight", (positions, width)), first, shape)
    return _norm(graph, "norm", graph("Add", words, places), width)


def _hidden(graph: Graph, real: str) -> str:
    """Nothing for what is real, next to minus infinity for padding; for every head and place."""
    costs = graph("Where", real, graph.constant(0.0), graph.constant(-1e9))
    return graph("Unsqueeze", costs, graph.constant([1, 2], INT64))


def _layer(graph: Graph, at: str, x: str, hidden: str, width: int, inner: int) -> str:
    seen = _attention(graph, _linear(graph, f"{at}qkv", x, width, 3 * width), hidden, width)
    out = _linear(graph, f"{at}out", seen, width, width)
    x = _norm(graph, f"{at}norm1", graph("Add", out, x), width)
    up = graph("Gelu", _linear(graph, f"{at}up", x, width, inner), approximate="tanh")
    down = _linear(graph, f"{at}down", up, inner, width)
    return _norm(graph, f"{at}norm2", graph("Add", down, x), width)


def _attention(graph: Graph, qkv: str, hidden: str, width: int) -> str:
    size = width // HEADS
    apart = graph("Reshape", qkv, graph.constant([0, 0, 3, HEADS, size], INT64))
    heads = graph("Transpose", apart, perm=[2, 0, 3, 1, 4])
    q, k, v = (graph("Gather", heads, graph.constant(n, INT64), axis=0) for n in range(3))
    keys = graph("Transpose", k, perm=[0, 1, 3, 2])
    fit = graph("MatMul", graph("Mul", q, graph.constant(size**-0.5)), keys)
    shares = graph("Softmax", graph("Add", fit, hidden), axis=-1)
    seen = graph("Transpose", graph("MatMul", shares, v), perm=[0, 2, 1, 3])
    return graph("Reshape", seen, graph.constant([0, 0, width], INT64))


def _linear(graph: Graph, name: str, x: str, of: int, to: int) -> str:
    product = graph("MatMul", x, graph.weight(f"{name}.weight", (of, to)))
    return graph("Add", product, graph.weight(f"{name}.bias", (to,)))


def _norm(graph: Graph, name: str, x: str, width: int) -> str:
    weight, bias = (graph.weight(f"{name}.{part}", (width,)) for part in ("weight", "bias"))
    return graph("LayerNormalization", x, weight, bias, axis=-1, epsilon=EPSILON)


def _mean(graph: Graph, x: str, real: str) -> str:
    share = graph("Unsqueeze", graph("Cast", real, to=FLOAT), graph.constant([2], INT64))
    total = graph("ReduceSum", graph("Mul", x, share), graph.constant([1], INT64), keepdims=0)
    length = graph("ReduceL2", total, graph.constant([1], INT64), keepdims=1)
    return graph("Div", total, length)


def _tokens(graph: Graph, x: str, width: int) -> str:
    short = graph("MatMul", x, graph.weight("tokens.weight", (width, TOKEN_WIDTH)))
    return graph("Div", short, graph("ReduceL2", short, graph.constant([2], INT64), keepdims=1))


def _weights(graph: Graph, x: str, width: int) -> str:
    logits = _linear(graph, "weigh", x, width, 1)
    return graph("Sigmoid", graph("Squeeze", logits, graph.constant([2], INT64)))


def write(model: Path) -> None:
    """Write the graph of the weights in a folder beside them."""
    stored = load_weights(model)
    pieces, width = stored["words.weight"].shape
    positions = len(stored["positions.weight"])
    layers = sum(name.endswith(".qkv.weight") for name in stored)
    inner = len(stored["layers.0.up.weight"])
    file = model / "network.onnx"
    file.write_bytes(build(pieces, positions, layers, width, inner).SerializeToString())
    sys.stderr.write(f"{file.name}: {file.stat().st_size} bytes\n")
