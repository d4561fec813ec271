"""What a query or a tool wants: the family of its verb, or an answer from the world.

Families let "show me all buckets" meet get_bucket: the words differ, the verb family does not.
A family may have an opposite, and some destroy: a tool of such a family fits a request that asks
for just that, and hardly any other. The verbs themselves are in `toolcrib.text`.

A question about the world has no verb that a tool would have. A web search may answer it, and not
one about what is one's own:

    who is the CEO of Nvidia · 珠穆朗玛峰有多高          of the world
    when is my next meeting · 我这周有什么会             of one's own
"""

import re
from functools import lru_cache

from toolcrib.text import is_unspaced, our_verbs, simplified, words

_BEGINS = frozenset("who whos what whats when where which why how is are does did was were".split())
_OWN = frozenset("i im ive my mine me we our ours us this these that".split())
_ASKS = re.compile(r"谁|什么|啥|哪|几[个点时]|多少|多[高大远久长]|为什么|怎么|吗|是不是|有没有")
_OWN_CHINESE = re.compile(r"我|咱|俺|这个|这份|这张|那个|这里|本地")
FEWEST = 3
"""Words that an English question has at least."""


@lru_cache(maxsize=1 << 16)
def verb_family(text: str) -> str:
    """The family of the verb in a name or a request; "" if it has none that is known."""
    verb = our_verbs().main_verb(text)
    return verb.family if verb else ""


def opposite_family(family: str) -> str:
    """The family that does the opposite; "" if there is none."""
    known = our_verbs().families.get(family)
    return known.opposite if known else ""


@lru_cache(maxsize=1 << 16)
def is_destructive(name: str) -> bool:
    """Whether a tool of this name does what is hard to undo: deletes, cancels, resets, revokes.

    Only its verb counts: list_deleted_items lists, and get_removal_policy reads.
    """
    return our_verbs().destroys(name)


def asks_for(family: str, text: str) -> bool:
    """Whether any word of a text is a verb of this family, in any form: deleted, 删掉."""
    return family in _families(text)


@lru_cache(maxsize=256)
def _families(text: str) -> frozenset[str]:
    return frozenset(verb.family for verb in our_verbs().verbs_of(text))


@lru_cache(maxsize=256)
def asks_the_world(text: str) -> bool:
    """Whether a text asks about the world, in English or Chinese."""
    plain = simplified(text)
    said = words(plain.replace("'", "").replace("’", ""))
    if any(is_unspaced(word) for word in said):
        return bool(_ASKS.search(plain)) and not _OWN_CHINESE.search(plain)
    return len(said) >= FEWEST and said[0] in _BEGINS and _OWN.isdisjoint(said)
