"""Made-up catalogs: the same for the same seed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from toolcrib.index import Document, document_of
from toolcrib.index.bm25_formula import FieldWeights
from toolcrib.index.memory.base import BaseBuilder
from toolcrib.index.memory.overlay import Overlay
from toolcrib.index.memory.rows import Masks, SnapshotRows
from toolcrib.index.memory.vector import Vector
from toolcrib.model import ToolInfo, Variant
from toolcrib.text import stems, terms, without_stopwords, words

VERBS = "read write list get create delete update search send find sync export import".split()
NOUNS = """
    file files filesystem folder message channel issue issues pull request repository calendar
    event invoice customer payment image video map route weather forecast note document database
    table row query user team token secret deployment deployments cluster log metric alert page
""".split()
CHINESE = (
    "读取 写入 文件 文件夹 搜索 网页 发送 消息 日历 天气 预报 图片 数据库 查询 用户 删除".split()
)


def tool(chance: Random, number: int) -> ToolInfo:
    """A tool with a name, a title in two languages, tags, a description and parameters."""
    verb, noun = chance.choice(VERBS), chance.choice(NOUNS)
    chinese = "".join(chance.choices(CHINESE, k=2))
    return ToolInfo(
        name=f"{verb}_{noun}" if number % 3 else f"{verb}{noun.title()}",
        description=" ".join(chance.choices(VERBS + NOUNS + CHINESE, k=chance.randint(3, 20))),
        display={"en": f"{verb} {noun}".title(), "zh-CN": chinese},
        tags=tuple(chance.sample(NOUNS, k=2)),
        parameters={"properties": {chance.choice(NOUNS): {"description": chance.choice(VERBS)}}},
    )


def catalog(
    count: int, *, seed: int = 0, prefix: str = "", dimensions: int = 8
) -> Sequence[Document]:
    """Documents with ids `{prefix}0000` and on, in an order of no meaning, each with a vector."""
    chance = Random(seed)
    made = [
        replace(
            document_of(tool(chance, number), id=f"{prefix}{number:04}"),
            vector=unit(chance, dimensions) if dimensions else None,
        )
        for number in range(count)
    ]
    chance.shuffle(made)
    return made


def unit(chance: Random, dimensions: int) -> NDArray[np.float32]:
    """A vector of length 1."""
    vector = np.array([chance.gauss() for _ in range(dimensions)])
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def vector_arm(vectors: Mapping[str, NDArray[np.float32]]) -> Vector:
    """The arm of the memory engine over these vectors alone, by id."""
    builder = BaseBuilder(FieldWeights())
    for id, vector in vectors.items():
        builder.add(Document(id, (), (), ((), (), (), ()), "", vector))
    return Vector(SnapshotRows(builder.built(), Overlay(), Masks()))


def variant(text: str, vector: Sequence[float] | None = None) -> Variant:
    """A query as a search would look it up."""
    some = without_stopwords(words(text))
    return Variant(
        text, words=tuple(terms(some)), terms=(*terms(some), *stems(some)), vector=vector
    )
