"""The OpenAI-compatible wire for embeddings: what is sent, and what an answer must be. No I/O."""

import json
from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.unit import unit_rows
from toolcrib.model import Json


def request_body(model: str, texts: Sequence[str], dimensions: int | None) -> bytes:
    body: dict[str, Json] = {"model": model, "input": texts}
    if dimensions:
        body["dimensions"] = dimensions
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def vectors_in(answer: bytes, *, count: int, dimensions: int | None) -> NDArray[np.float32]:
    """The vectors of an answer, in the order of the texts, each of length 1.

    Raises `ValueError` with the reason why it is no answer to `count` texts.
    """
    try:
        embeddings = _by_index(json.loads(answer)["data"])
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("what came is not JSON with a list `data` of embeddings") from error
    rows = [embeddings[index] for index in range(count) if index in embeddings]
    if not len(rows) == len(embeddings) == count:
        raise ValueError(f"what came is not one vector for each of {count} texts")
    return unit_rows(rows, count=count, dimensions=dimensions)


def _by_index(data: object) -> dict[object, object]:
    """Each embedding by the index that it states, or else by its place in the list."""
    items = cast("list[dict[str, object]]", data)
    found = {item.get("index", place): item["embedding"] for place, item in enumerate(items)}
    if len(found) != len(items):
        raise ValueError("two embeddings for one text")
    return found
