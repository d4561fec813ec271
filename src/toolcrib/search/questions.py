"""Questions that one would ask the web: about the world, not about what is one's own.

who is the CEO of Nvidia · 珠穆朗玛峰有多高          of the world
when is my next meeting · 我这周有什么会             of one's own
open the door                                       no question
"""

import re
from functools import lru_cache

from toolcrib.text import is_unspaced, simplified, words

_BEGINS = frozenset("who whos what whats when where which why how is are does did was were".split())
_OWN = frozenset("i im ive my mine me we our ours us this these that".split())
_ASKS = re.compile(r"谁|什么|啥|哪|几[个点时]|多少|多[高大远久长]|为什么|怎么|吗|是不是|有没有")
_OWN_CHINESE = re.compile(r"我|咱|俺|这个|这份|这张|那个|这里|本地")
FEWEST = 3
"""Words, or characters, that a question has at least."""


@lru_cache(maxsize=256)
def asks_the_world(text: str) -> bool:
    """Whether a text asks about the world, in English or Chinese."""
    plain = simplified(text)
    said = words(plain.replace("'", "").replace("’", ""))
    if any(is_unspaced(word) for word in said):
        return bool(_ASKS.search(plain)) and not _OWN_CHINESE.search(plain)
    return len(said) >= FEWEST and said[0] in _BEGINS and _OWN.isdisjoint(said)
