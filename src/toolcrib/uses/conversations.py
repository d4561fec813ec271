"""Who calls what after what: the last few calls and searches of each conversation.

A conversation is what one caller does without a pause of more than ten minutes. All bounds are
here: how far back a call reaches, how often one conversation may say the same thing, and how many
conversations are remembered at a time.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from toolcrib.store import UseLessonKey, UsePair

PAUSE_S = 600.0
CALLS_BACK = 3
SEARCHES_BACK = 3
MOST_OF_ONE_PAIR = 5
"""How often one conversation counts for one pair: a loop does not drown the others."""
MOST_PAIRS_OF_ONE = 500
MOST_CONVERSATIONS = 1_000


class RecentSearch(NamedTuple):
    """A search that may lead to a call: who asked it, its words, and what it found."""

    rights: bytes
    words: tuple[bytes, ...]
    found: frozenset[str]


def _calls() -> deque[str]:
    return deque(maxlen=CALLS_BACK)


def _searches() -> deque[RecentSearch]:
    return deque(maxlen=SEARCHES_BACK)


@dataclass(slots=True)
class Conversation:
    """What one conversation did of late, and what it has told already."""

    last_s: float
    calls: deque[str] = field(default_factory=_calls)
    searches: deque[RecentSearch] = field(default_factory=_searches)
    pairs: Counter[UsePair] = field(default_factory=Counter[UsePair])
    lessons: set[UseLessonKey] = field(default_factory=set[UseLessonKey])

    def called(self, tool: str) -> list[UsePair]:
        """The pairs that this call makes with the few before it."""
        made = [UsePair(before, tool) for before in dict.fromkeys(self.calls) if before != tool]
        counted = [pair for pair in made if self._may_count(pair)]
        self.pairs.update(counted)
        self.calls.append(tool)
        return counted

    def taught(self, tool: str) -> Iterator[UseLessonKey]:
        """The words of the last search that found this tool, each once a conversation."""
        led = next((each for each in reversed(self.searches) if tool in each.found), None)
        if led:
            keys = {UseLessonKey(led.rights, word, tool) for word in led.words} - self.lessons
            self.lessons |= keys
            yield from keys

    def _may_count(self, pair: UsePair) -> bool:
        counted = self.pairs.get(pair, 0)
        return counted < MOST_OF_ONE_PAIR and (counted > 0 or len(self.pairs) < MOST_PAIRS_OF_ONE)


class Conversations:
    """The conversations that go on, by caller; of too many the one that was silent longest goes."""

    def __init__(self) -> None:
        self._by_caller: OrderedDict[str, Conversation] = OrderedDict()

    def of(self, caller: str, now_s: float) -> Conversation:
        """The conversation of a caller, a new one after a pause."""
        found = self._by_caller.get(caller)
        if found is None or now_s - found.last_s > PAUSE_S:
            found = self._by_caller[caller] = Conversation(now_s)
        found.last_s = now_s
        self._by_caller.move_to_end(caller)
        if len(self._by_caller) > MOST_CONVERSATIONS:
            self._by_caller.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget them all."""
        self._by_caller.clear()
