"""The constants of the pipeline in one frozen value."""

from dataclasses import dataclass, field
from typing import Literal

from toolcrib.search.rewrite import VariantWeights

Cut = Literal["autocut", "top_band", "none"]
Fusion = Literal["lifts", "rrf"]


@dataclass(frozen=True, slots=True)
class ArmWeights:
    """How much each arm counts in the fusion by lifts."""

    like: float = 0.4
    bm25: float = 1.0
    vector: float = 1.2


@dataclass(frozen=True, slots=True)
class Rules:
    """What the settings say about search; each is described in docs/settings.md."""

    limit: int = 5
    most: int = 8
    schemas: int = 3
    depth: int = 30
    fusion: Fusion = "lifts"
    arms: ArmWeights = field(default_factory=ArmWeights)
    k: int = 60
    exact_name_bonus: float = 1.0
    intent_boost: float = 0.0002
    weights: VariantWeights = field(default_factory=VariantWeights)
    cut: Cut = "autocut"
    cut_ratio: float = 2.0
    band_share: float = 0.5
    abstain: bool = True
