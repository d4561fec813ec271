"""Words that carry no meaning of their own, and the phrases people wrap a request in."""

import re

from toolcrib.text.traditional import simplified

ENGLISH_STOPWORDS = frozenset(
    """
    a about am an and any are as at be been being both but by can could did do does doing each
    for from had has have having he her here hers him his how i if in into is it its just let
    many may me might more most much must my need of on or our ours please shall she should so
    some such than that the their them then there these they this those to too up us very want
    was we were what when where which while who whom whose why will with would you your yours
    """.split(),
)

# Characters that hold a Chinese sentence together and say nothing alone.
CHINESE_PARTICLES = frozenset(
    "的了是在和与及或个一下对为把被给从到向于以这那其之所而且着过吗呢吧啊呀么我你您他她它们"
)

# What a Chinese request begins and ends with, as patterns. They are taken off the ends only, and
# few of them are single characters: 能源 (energy) begins with 能, 请求 (request) with 请.
CHINESE_OPENINGS = tuple(
    """
    能不能 可不可以 可以 能否 可否 是否 是不是 有没有 请(?![求假]) 麻烦 帮我 帮忙 帮助我 给我 替我
    为我 我们 我 想要 需要 希望 想(?!法) 你能 您能 你 您 如何 怎么样 怎么 怎样 什么 哪些 哪个 哪里
    为什么 问一下 问 一下 把
    """.split(),
)
CHINESE_ENDINGS = ("一下", "可以吗", "好吗", "谢谢", "吗", "呢", "吧", "啊", "呀", "了", "的", "么")

_SPACES = re.compile(r"([，,。；;！!？?\s]+)")
# The longest first, by what they match: 想要 before 想(?!法).
_LONGEST_FIRST = sorted(CHINESE_OPENINGS, key=lambda each: -len(each.partition("(")[0]))
_OPENING = re.compile(f"(?:{'|'.join(_LONGEST_FIRST)})+")
_ENDING = re.compile(f"(?:{'|'.join(CHINESE_ENDINGS)})+$")


def without_wrapping(text: str) -> str:
    """The text without the polite phrases around its Chinese clauses."""
    if text.isascii():
        return text
    return "".join(map(_unwrapped, _SPACES.split(simplified(text))))


def _unwrapped(clause: str) -> str:
    """A Chinese clause without its opening and closing phrases; the clause if it is only those."""
    opening = _OPENING.match(clause)
    inner = clause[opening.end() :] if opening else clause
    return _ENDING.sub("", inner) or clause
