"""How sessions behave, by the settings: when their tools wait, and how much they show."""

from dataclasses import dataclass

from toolcrib.model import DeferralTrigger, PrefetchMode
from toolcrib.session.deferred_summary import DeferStyle


@dataclass(frozen=True, slots=True)
class Deferral:
    """What the settings say about deferral; each is described in docs/settings.md."""

    trigger: DeferralTrigger
    threshold: int
    never_defer: frozenset[str]
    style: DeferStyle
    context_window: int

    def is_late(self, used: int) -> bool:
        """Whether the conversation has used so much that `conversation:N` defers from now on."""
        return self.trigger.kind == "conversation" and used >= self.allowance

    @property
    def allowance(self) -> float:
        """The tokens that N % of the context window are."""
        return self.context_window * self.trigger.percent / 100


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How sessions behave, by the settings that docs/settings.md describes.

    `keep_called`: the length of the conversation decides whether tools wait. Then what is called is
    revealed, even while all is shown; so that it stays in sight when tools begin to wait.
    """

    style: DeferStyle
    auto_reveal: bool
    keep_called: bool
    most_revealed: int
    reveal_tokens: int
    summary_tokens: int
    answer_tokens: int
    prefetch: PrefetchMode
    prefetch_tokens: int
