"""How well a model alone finds the right tools of the development sets, while it is trained."""

import json
import lzma
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.network import WIDTH
from training.tensors import TOOL_MOST as MOST
from training.tensors import Numbering, doc_texts, ragged

TOP = 50
ANSWERED = 0.97


class DevSet(NamedTuple):
    """A set: its tools and queries as numbers, and which tools are right."""

    name: str
    tools: Tensor
    ids: Sequence[str]
    queries: Tensor
    asked: Sequence[Mapping[str, object]]
    unfit: "Unfit | None"


class Unfit(NamedTuple):
    """Queries that no tool of their catalog is for, or none of the tools that are True beside."""

    queries: Tensor
    among: Tensor


def load(folder: Path, *, words: bool, device: str) -> list[DevSet]:
    """The development sets of a bundle; none where it has none."""
    file = folder / "dev.jsonl.xz"
    if not file.exists():
        return []
    cut = Numbering(folder, words=words, most=MOST)
    with lzma.open(file, "rt", encoding="utf-8") as text:
        rows = [json.loads(line) for line in text]
    catalogs = {row["set"]: row["tools"] for row in rows if row["tools"] != "mcp_big"}
    found: list[DevSet] = []
    for row in rows:
        if not row["queries"]:
            continue
        tools = catalogs["mcp_big" if row["tools"] == "mcp_big" else row["set"]]
        documents = ragged([doc_texts(tool[1:])[1] for tool in tools], cut, MOST).rows
        queries = ragged([query["query"] for query in row["queries"]], cut, MOST).rows
        found.append(
            DevSet(
                row["set"],
                torch.from_numpy(documents.astype(np.int32)).to(device),
                [tool[0] for tool in tools],
                torch.from_numpy(queries.astype(np.int32)).to(device),
                row["queries"],
                _unfit(row.get("none") or [], [tool[0] for tool in tools], cut, device),
            )
        )
    return found


def _unfit(
    rows: Sequence[Mapping[str, Any]], ids: Sequence[str], cut: Numbering, device: str
) -> Unfit | None:
    if not rows:
        return None
    place = {id: number for number, id in enumerate(ids)}
    among = torch.zeros(len(rows), len(ids), dtype=torch.bool)
    for number, row in enumerate(rows):
        among[number, [place[id] for id in row.get("candidates") or ids]] = True
    queries = ragged([row["query"] for row in rows], cut, MOST).rows
    return Unfit(torch.from_numpy(queries.astype(np.int32)).to(device), among.to(device))


@torch.no_grad()
def in_vain(encoder: nn.Module, sets: Sequence[DevSet], device: str) -> dict[str, float]:
    """How many queries without an answer get one, at a bound that 97 % of the others pass."""
    found: dict[str, float] = {}
    for each in sets:
        if each.unfit is None:
            continue
        documents = _encoded(encoder, each.tools, WIDTH, device)
        best = (_encoded(encoder, each.queries, WIDTH, device) @ documents.T).amax(1)
        unfit = _encoded(encoder, each.unfit.queries, WIDTH, device) @ documents.T
        nearest = unfit.masked_fill(~each.unfit.among, -1).amax(1)
        passed = nearest >= torch.quantile(best, 1 - ANSWERED)
        found[each.name] = round(100 * passed.float().mean().item(), 1)
    return found


@torch.no_grad()
def table(encoder: nn.Module, sets: Sequence[DevSet], size: int, device: str) -> dict[str, float]:
    """R@5 of every set and split in per cent, and its mean over the sets."""
    found: dict[str, float] = {}
    means: list[float] = []
    for each in sets:
        documents = _encoded(encoder, each.tools, size, device)
        queries = _encoded(encoder, each.queries, size, device)
        best = torch.cat(
            [
                (some @ documents.T).topk(min(TOP, len(documents))).indices
                for some in queries.split(512)
            ]
        )
        splits: dict[str, list[float]] = {}
        firsts: list[float] = []
        for places, query in zip(best.tolist(), each.asked, strict=True):
            ids = ranked([each.ids[place] for place in places], query)
            splits.setdefault(str(query.get("split", "")), []).append(recall(ids[:5], query))
            firsts.append(float(bool({*ids[:1]} & {*query["relevant"]})))
        every = [value for values in splits.values() for value in values]
        means.append(100 * float(np.mean(every)))
        found[each.name] = round(means[-1], 1)
        if 1 < len(splits) <= 4:
            found |= {
                f"{each.name}/{s}": round(100 * float(np.mean(v)), 1) for s, v in splits.items()
            }
        if each.name == "azure_mcp_2025":
            found["azure_mcp_2025@1"] = round(100 * float(np.mean(firsts)), 1)
    return {"mean": round(float(np.mean(means)), 2) if means else 0.0, **found}


def _encoded(encoder: nn.Module, rows: Tensor, size: int, device: str) -> Tensor:
    lengths = (rows > 0).sum(1)
    order = lengths.argsort()
    out = torch.empty(len(rows), size, device=device)
    for some in order.split(1024):
        width = max(1, int(lengths[some].max()))
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            vectors = encoder(rows[some, :width])
        out[some] = functional.normalize(vectors[:, :size].float(), dim=-1)
    return out


def ranked(ids: Sequence[str], query: Mapping[str, object]) -> list[str]:
    equal = query.get("equiv") or {}
    return list(dict.fromkeys(equal.get(id, id) for id in ids))


def recall(top: Sequence[str], query: Mapping[str, object]) -> float:
    relevant = set(query["relevant"])
    found = len(relevant & set(top))
    return float(found > 0) if query.get("relevance") == "any" else found / len(relevant)
