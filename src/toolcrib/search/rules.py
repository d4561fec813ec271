"""What the settings say about search, in one frozen value.

Defaults stand in the settings. What was fitted to measured queries is no setting: those constants
stand with the formulas that they belong to.
"""

from dataclasses import dataclass
from typing import Literal

Cut = Literal["autocut", "top_band", "none"]
Fusion = Literal["zscore", "rrf", "keywords"]
SecondLookMode = Literal["off", "fast"]


@dataclass(frozen=True, slots=True)
class ArmWeights:
    """How much each arm counts in the fusion by z-scores; bm25 is the unit.

    Fitted by `python -m benchmarks.weights` to 18 sets of queries. The top is flat: with vectors
    at 1.0 to 1.5, and names at 0.2 to 0.8, recall at 5 differs by a fifth of a point.
    """

    vector: float
    like: float = 0.4
    bm25: float = 1.0


@dataclass(frozen=True, slots=True)
class SearchRules:
    """Each is described in docs/settings.md; of `arms` only `vector` is a setting."""

    limit: int
    most: int
    schemas: int
    fusion: Fusion
    second_look: SecondLookMode
    arms: ArmWeights
    cut: Cut
    cut_ratio: float
    abstain: bool
