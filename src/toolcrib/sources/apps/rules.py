"""What the operator set about apps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Patience:
    """How long an app may take to register, and how long it is kept without a call."""

    start_s: float = 20.0
    idle_s: float = 300.0


@dataclass(frozen=True, slots=True)
class AppRules:
    """Launch commands by app, and the apps whose word that a tool only reads is taken."""

    launch: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    trusted: frozenset[str] = frozenset()
    patience: Patience = field(default_factory=Patience)
