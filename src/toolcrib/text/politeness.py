"""The phrases that people wrap a request in, and the request without them.

    can you please show me the open issues, thanks   → show me the open issues
    麻烦帮我把文件读出来好吗谢谢                         → 文件读出来

The phrases are patterns, taken off the two ends only. A word alone is among them only if it is
never what is asked for: "help" and "like" are not.
"""

import re

from toolcrib.text.traditional import simplified

# Few of these are single characters: 能源 (energy) begins with 能, 请求 (request) with 请.
CHINESE_OPENINGS = r"""
    能不能 可不可以 可以 能否 可否 是否 是不是 有没有 请(?![求假]) 请问 麻烦 劳驾 拜托 辛苦
    帮我 帮忙 帮个忙 帮助我 给我 替我 为我 帮咱 给咱 帮(?=[查看找搜发写做建订买翻改删算画读截存拉])
    我们 我 咱们 咱 你能 您能 你 您 想要 需要 希望 想(?!法) 赶紧 赶快 快点 马上 先
    如何 怎么样 怎么 怎样 什么 哪些 哪个 哪里 为什么 问一下 问 一下 把
    您好 你好 哈喽 嗨
""".split()
CHINESE_ENDINGS = """
    一下 可以吗 好吗 行吗 成吗 行不行 好不好 可不可以 谢谢 谢谢啦 谢谢你 谢谢您 谢了 多谢 感谢
    拜托了 辛苦了 麻烦了 好了 吗 呢 吧 啊 呀 了 的 么 哈 哦 噢 嘛 啦 喽 咯 呗 哟
""".split()
ENGLISH_OPENINGS = r"""
    please|pls|plz|kindly|(?:hey|hi|hello)(?: there| all| everyone)?|hiya|yo|ok|okay|so|well|oh
    good (?:morning|afternoon|evening)|quick question|one (?:question|thing)|quickly|just
    maybe|perhaps|(?:would|do) you mind
    (?:can|could|would|will|can't|won't) (?:you|u|someone|anyone|anybody|we)
    (?:i|we)(?:'d| would|d)? (?:really |just |also )?(?:like|love|want|need|have|hope|wish)
        (?: (?:for )?(?:you|u))? to
    (?:i|we)(?:'d| would|d)? (?:really |just |also )?(?:like|love|want|wanna|need|gotta)
    (?:i'm|im|i am|we're|we are) (?:just )?(?:trying|looking|hoping|going|wanting|about) to
    (?:i was|i'm|im|i am) (?:just )?wondering(?: if| whether)?(?: (?:you|i|we) (?:can|could))?
    do you (?:think|know) (?:if|whether)(?: (?:you|i|we) (?:can|could))?
    is it possible(?: for you)? to|is there (?:a|any) way to|are you able to
    be (?:so kind|a dear|an angel|sure|kind enough)(?: (?:as )?to| and)?
    help (?:me|us)(?: out)?(?: to| with)?|give me a hand(?: with)?|assist me (?:in|with)
    do me a favou?r(?: and)?|let's|lets|let (?:me|us)(?! know)|go ahead and|feel free to|try to
    make sure (?:to|you)|remember to|don't forget to|gimme|(?:it's )?time to
    how (?:do|can|could|would|should|might) (?:i|we|you|one)
    (?:i|we) (?:must|should|ought to|shall|will|can|could)
"""
ENGLISH_ENDINGS = r"""
    (?:many )?thanks|thank (?:you|u)|thx|ty|tysm|cheers|tia|thnx|please|pls|plz
    thanks (?:a lot|so much|in advance|a bunch|a million|again)|thank you (?:so|very) much
    for (?:me|us)|(?:can|could|will|would) (?:you|u|ya)|if (?:you|u) (?:can|could|would)
    if (?:you|u) don't mind|if (?:it's |that's |at all )?possible|real(?:ly)? quick|asap
    when(?:ever)? (?:you|u) (?:can|have time|get a (?:chance|sec))
    ok|okay|alright|mate|buddy|bro|dude|lol|haha|hehe|appreciate it|much appreciated
    i (?:guess|think|suppose)|or something|or whatever|and stuff
"""
LONGEST_ENDING = 48

_SPACES = re.compile(r"([，,。；;！!？?\s]+)")
_GAPS = " \t\r\n,.!?…:;-，。！？"
# The longest first, by what they match: 想要 before 想(?!法).
_LONGEST_FIRST = sorted(CHINESE_OPENINGS, key=lambda each: -len(each.partition("(")[0]))
_OPENING = re.compile(f"(?:{'|'.join(_LONGEST_FIRST)})+")
_ENDING = re.compile(f"(?:{'|'.join(CHINESE_ENDINGS)})+$")


def _any_of(lines: str) -> str:
    """The lines as alternatives; one that is indented further goes on with the line before."""
    return "|".join(lines.replace("\n        ", "").split("\n    ")[1:]).strip()


_ENGLISH_OPENING = re.compile(rf"(?:{_any_of(ENGLISH_OPENINGS)})\b", re.IGNORECASE)
_ENGLISH_ENDING = re.compile(rf"\b(?:{_any_of(ENGLISH_ENDINGS)})$", re.IGNORECASE)


def without_wrapping(text: str) -> str:
    """The text without the polite phrases around it, and around its Chinese clauses.

    Text that is nothing else stays as it is.
    """
    inner = _without_english(text)
    if inner.isascii():
        return inner
    return "".join(map(_unwrapped, _SPACES.split(simplified(inner))))


def _without_english(text: str) -> str:
    inner = text.strip(_GAPS)
    while opening := _ENGLISH_OPENING.match(inner):
        inner = inner[opening.end() :].lstrip(_GAPS)
    while ending := _ENGLISH_ENDING.search(inner[-LONGEST_ENDING:]):
        inner = inner[: max(len(inner) - LONGEST_ENDING, 0) + ending.start()].rstrip(_GAPS)
    return inner or text


def _unwrapped(clause: str) -> str:
    """A Chinese clause without its opening and closing phrases; the clause if it is only those."""
    opening = _OPENING.match(clause)
    inner = clause[opening.end() :] if opening else clause
    return _ENDING.sub("", inner) or clause
