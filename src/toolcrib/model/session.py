"""When a session defers tools or shows them unasked, and how long its conversation is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

PrefetchMode = Literal["auto", "on", "off"]
"""Whether the user's message is searched before the model is asked; `auto` goes by the model."""

DEFAULT_PERCENT = 10
_WITH_PERCENT = re.compile(r"(auto|conversation)(?::([0-9]{1,3}))?")
_SWITCHES: Mapping[str, Literal["on", "off"]] = {
    "on": "on",
    "true": "on",
    "off": "off",
    "false": "off",
}


class ConversationTokens(NamedTuple):
    """How many tokens a conversation takes: now, and when its tools were last listed.

    `at_listing` is None where they never were.
    """

    now: int = 0
    at_listing: int | None = None


@dataclass(frozen=True, slots=True)
class DeferralTrigger:
    """When the tools of a session wait for a search.

    on                 always
    auto:N             when their definitions take N % of the context window, or more
    conversation:N     once the conversation has used N % of the context window
    off                never

    Without a number N is 10. `true` and `false` say on and off.
    """

    kind: Literal["on", "auto", "conversation", "off"]
    percent: int = DEFAULT_PERCENT

    @classmethod
    def read(cls, text: str) -> "DeferralTrigger":
        """The trigger that a text names. Raises `ValueError` with the words there are."""
        word = text.strip().lower()
        if word in _SWITCHES:
            return cls(_SWITCHES[word])
        match = _WITH_PERCENT.fullmatch(word)
        percent = int(match[2] or DEFAULT_PERCENT) if match else 101
        if not match or percent > 100:  # noqa: PLR2004 - per cent
            words = "on, auto, auto:N, conversation:N or off, with N from 0 to 100"
            raise ValueError(f"{text!r} is not a value of `tool_search`; say {words}")
        return cls("auto" if match[1] == "auto" else "conversation", percent)
