"""The phrases that people wrap a request in, and the request without them.

    can you please show me the open issues, thanks   → show me the open issues
    麻烦帮我把文件读出来好吗谢谢                         → 文件读出来

The phrases are patterns, taken off the two ends only. A word alone is among them only if it is
never what is asked for: "help" and "like" are not.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from toolcrib.text.traditional import simplified

# Few of these are single characters: 能源 (energy) begins with 能, 请求 (request) with 请.
CHINESE_POLITE = r"""
    能不能 可不可以 可以 能否 可否 请(?![求假]) 请问 麻烦 劳驾 拜托 辛苦 你能 您能 您好 你好 哈喽 嗨
    能(?=[帮给替]) 帮我 帮忙 帮个忙 帮助我 给我 替我 为我 帮咱 给咱
    帮(?=[查看找搜发写做建订买翻改删算画读截存拉])
""".split()
CHINESE_ASKING = r"""
    是否 是不是 有没有 我们 我 咱们 咱 你 您 想要 需要 希望 想(?!法) 赶紧 赶快 快点 马上 先
    如何 怎么样 怎么 怎样 什么 哪些 哪个 哪里 为什么 问一下 问 一下 把
""".split()
CHINESE_THANKS = """
    可以吗 好吗 行吗 成吗 行不行 好不好 可不可以 谢谢 谢谢啦 谢谢你 谢谢您 谢了 多谢 感谢 拜托了
    辛苦了 麻烦了 吧 啊 呀 哈 哦 噢 嘛 啦 喽 咯 呗 哟
""".split()
CHINESE_PARTICLES_BEHIND = "一下 好了 吗 呢 了 的 么".split()
ENGLISH_POLITE = r"""
    please|pls|plz|kindly|(?:hey|hi|hello)(?: there| all| everyone)?|hiya|yo|ok|okay|so|well|oh
    good (?:morning|afternoon|evening)|quick question|one (?:question|thing)|quickly|just
    maybe|perhaps|(?:would|do) you mind
    (?:can|could|would|will|can't|won't) (?:you|u|someone|anyone|anybody|we)
    be (?:so kind|a dear|an angel|sure|kind enough)(?: (?:as )?to| and)?
    help (?:me|us)(?: out)?(?: to| with)?|give me a hand(?: with)?|assist me (?:in|with)
    do me a favou?r(?: and)?|let's|lets|let (?:me|us)(?! know)|go ahead and|feel free to|try to
    make sure (?:to|you)|remember to|don't forget to|gimme|(?:it's )?time to
"""
ENGLISH_ASKING = r"""
    (?:i|we)(?:'d| would|d)? (?:really |just |also )?(?:like|love|want|need|have|hope|wish)
        (?: (?:for )?(?:you|u))? to
    (?:i|we)(?:'d| would|d)? (?:really |just |also )?(?:like|love|want|wanna|need|gotta)
    (?:i'm|im|i am|we're|we are) (?:just )?(?:trying|looking|hoping|going|wanting|about) to
    (?:i was|i'm|im|i am) (?:just )?wondering(?: if| whether)?(?: (?:you|i|we) (?:can|could))?
    do you (?:think|know) (?:if|whether)(?: (?:you|i|we) (?:can|could))?
    is it possible(?: for you)? to|is there (?:a|any) way to|are you able to
    how (?:do|can|could|would|should|might) (?:i|we|you|one)
    (?:i|we) (?:must|should|ought to|shall|will|can|could)
"""
ENGLISH_THANKS = r"""
    (?:many )?thanks|thank (?:you|u)|thx|ty|tysm|cheers|tia|thnx|please|pls|plz
    thanks (?:a lot|so much|in advance|a bunch|a million|again)|thank you (?:so|very) much
    for (?:me|us)|(?:can|could|will|would) (?:you|u|ya)|if (?:you|u) (?:can|could|would)
    if (?:you|u) don't mind|if (?:it's |that's |at all )?possible|real(?:ly)? quick|asap
    when(?:ever)? (?:you|u) (?:can|have time|get a (?:chance|sec))
    ok|okay|alright|mate|buddy|bro|dude|lol|haha|hehe|appreciate it|much appreciated
    i (?:guess|think|suppose)|or something|or whatever|and stuff
"""
LONGEST_ENDING = 48

_BETWEEN = re.compile(r"([，,。；;！!？?\s]+)")
_GAPS = " \t\r\n,.!?…:;-，。！？"


class _Wrapping(NamedTuple):
    """What is taken off: English openings and endings, and those of Chinese clauses."""

    opening: re.Pattern[str]
    ending: re.Pattern[str]
    chinese_opening: re.Pattern[str]
    chinese_ending: re.Pattern[str]


def without_politeness(text: str) -> str:
    """The text without greetings, pleas and thanks around it, and around its Chinese clauses.

    Text that is nothing else stays as it is.
    """
    return _without(_polite(), text)


def without_wrapping(text: str) -> str:
    """The same, and without what only says that something is wanted or asked for.

    I need to, how do I; 我想, 怎么; and the particles at the end of a clause.
    """
    return _without(_whole(), text)


@cache
def _polite() -> _Wrapping:
    return _wrapping(ENGLISH_POLITE, CHINESE_POLITE, CHINESE_THANKS)


@cache
def _whole() -> _Wrapping:
    openings = [*CHINESE_POLITE, *CHINESE_ASKING]
    endings = [*CHINESE_THANKS, *CHINESE_PARTICLES_BEHIND]
    return _wrapping(ENGLISH_ASKING + ENGLISH_POLITE, openings, endings)


def _wrapping(english: str, openings: Iterable[str], endings: Iterable[str]) -> _Wrapping:
    # The longest first, by what they match: 想要 before 想(?!法).
    longest_first = sorted(openings, key=lambda each: -len(each.partition("(")[0]))
    return _Wrapping(
        re.compile(rf"(?:{_any_of(english)})\b(?!['’])", re.IGNORECASE),
        re.compile(rf"\b(?:{_any_of(ENGLISH_THANKS)})$", re.IGNORECASE),
        re.compile(f"(?:{'|'.join(longest_first)})+"),
        re.compile(f"(?:{'|'.join(endings)})+$"),
    )


def _any_of(lines: str) -> str:
    """The lines as alternatives; one that is indented further goes on with the line before."""
    joined = lines.replace("\n        ", "")
    return "|".join(line.strip() for line in joined.split("\n") if line.strip())


def _without(wrapping: _Wrapping, text: str) -> str:
    inner = text.strip(_GAPS)
    while opening := wrapping.opening.match(inner):
        inner = inner[opening.end() :].lstrip(_GAPS)
    while ending := wrapping.ending.search(inner[-LONGEST_ENDING:]):
        inner = inner[: max(len(inner) - LONGEST_ENDING, 0) + ending.start()].rstrip(_GAPS)
    if not inner or inner.isascii():
        return inner or text
    clauses = _BETWEEN.split(simplified(inner))
    return "".join(_unwrapped(wrapping, clause) for clause in clauses).strip(_GAPS) or inner


def _unwrapped(wrapping: _Wrapping, clause: str) -> str:
    """A Chinese clause without its closing and opening phrases."""
    inner = wrapping.chinese_ending.sub("", clause)
    opening = wrapping.chinese_opening.match(inner)
    return inner[opening.end() :] if opening else inner
