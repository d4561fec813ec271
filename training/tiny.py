"""A model of little text, to see in a minute on a CPU that the way to the real one is passable.

The language model is one of chance, whose pieces are bytes; the sets are put together here.
"""

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from tokenizers.pre_tokenizers import ByteLevel

from training import requests
from training.corpus import POOL
from training.gguf import ALIGNED, ARRAY, F32, MAGIC, STRING
from training.language_model import END
from training.recipe import Recipe

WIDTH, INNER, LAYERS, HEADS, SHARED = 64, 96, 4, 4, 2
VERBS = ("get", "list", "create", "delete", "update", "find")
THINGS = ("weather", "invoice", "meeting", "playlist", "ticket", "recipe", "flight", "note")
LABELLED = 24
"""How many tools have queries; the others have requests of ours."""
UINT32, FLOAT = 4, 6


def recipe() -> Recipe:
    """A request of every kind for some tools, and a few small steps."""
    ids = [str(row["id"]) for row in _tools()[LABELLED:]]
    rows = [(id, kind, f"{kind} {id}") for id in ids for kind in requests.KINDS if kind != "multi"]
    rows += [(f"{ids[0]} {ids[1]}", "multi", "both of them")]
    whole = requests.load()
    written = requests.Written(rows, whole.functions[:12], whole.none[:8])
    student = "--minutes 0.05 --batch 12 --looked 4 --again 2 --told 1000".split()
    return Recipe(
        None,
        written,
        "--seconds 4 --rows 4 --topics 2".split(),
        "--minutes 0.03 --batch 8".split(),
        {"one": student, "other": [*student, "--seed", "2"]},
        (0.5, 0.3),
    )


def write(work: Path) -> Path:
    """The language model where fetching would leave it, and the sets; the folder of these."""
    work.mkdir(parents=True, exist_ok=True)
    (work / "teacher.gguf").write_bytes(language_model())
    pool, rows = work / "sets" / POOL, _tools()
    asked = [f"please {str(row['name']).replace('_', ' ')}" for row in rows]
    _write(pool / "tools.jsonl", [{"source": "metatool", **row} for row in rows[:LABELLED]])
    pairs = zip(rows[:LABELLED], asked, strict=False)
    some = [{"source": "metatool", "query": text, "positive": [r["id"]]} for r, text in pairs]
    _write(pool / "pairs.jsonl", some)
    _write(pool / "mcp_docs_unlabelled.jsonl", rows[LABELLED:])
    return work / "sets"


def language_model() -> bytes:
    """A GGUF file of a model of chance."""
    chance, data, entries = np.random.default_rng(1), b"", b""
    pieces = [*sorted(ByteLevel.alphabet()), END]
    for name, shape in _shapes(len(pieces)).items():
        drawn = np.ones(shape) if "norm" in name else chance.normal(0, 0.1, shape)
        sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        entries += _text(name) + sizes + struct.pack("<IQ", F32, len(data))
        data += drawn.astype(np.float32).tobytes()
    facts = _facts(pieces)
    counts = struct.pack("<IQQ", 3, len(_shapes(len(pieces))), len(facts))
    head = MAGIC + counts + b"".join(facts) + entries
    return head + b"\0" * (-len(head) % ALIGNED) + data


def _facts(pieces: Sequence[str]) -> list[bytes]:
    counts = {
        "feed_forward_length": INNER,
        "block_count": LAYERS,
        "attention.head_count": HEADS,
        "attention.head_count_kv": SHARED,
    }
    numbers = {"attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1e6}
    lists = {"tokens": pieces, "merges": []}
    return [
        *(_text(f"tiny.{n}") + struct.pack("<II", UINT32, value) for n, value in counts.items()),
        *(_text(f"tiny.{n}") + struct.pack("<If", FLOAT, value) for n, value in numbers.items()),
        *(
            _text(f"tokenizer.ggml.{n}")
            + struct.pack("<IIQ", ARRAY, STRING, len(values))
            + b"".join(map(_text, values))
            for n, values in lists.items()
        ),
    ]


def _shapes(pieces: int) -> Mapping[str, tuple[int, ...]]:
    part = WIDTH // HEADS * SHARED
    layer = {
        "attn_norm.weight": (WIDTH,),
        "attn_q.weight": (WIDTH, WIDTH),
        "attn_q.bias": (WIDTH,),
        "attn_k.weight": (part, WIDTH),
        "attn_k.bias": (part,),
        "attn_v.weight": (part, WIDTH),
        "attn_v.bias": (part,),
        "attn_output.weight": (WIDTH, WIDTH),
        "ffn_norm.weight": (WIDTH,),
        "ffn_gate.weight": (INNER, WIDTH),
        "ffn_up.weight": (INNER, WIDTH),
        "ffn_down.weight": (WIDTH, INNER),
    }
    layers = product(range(LAYERS), layer.items())
    found = {f"blk.{number}.{name}": shape for number, (name, shape) in layers}
    return {"token_embd.weight": (pieces, WIDTH), "output_norm.weight": (WIDTH,), **found}


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _tools() -> list[dict[str, object]]:
    """Every thing with one action after the other, on a server for each thing."""
    parameters = {"type": "object", "properties": {"where": {"type": "string"}}}
    return [
        {
            "id": f"{thing}-mcp::{verb}_{thing}",
            "name": f"{verb}_{thing}",
            "description": f"{verb.capitalize()} the {thing}. It is yours.",
            "parameters": parameters,
        }
        for verb, thing in product(VERBS, THINGS)
    ]


def _write(file: Path, rows: Iterable[Mapping[str, object]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
