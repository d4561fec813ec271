"""Chinese verbs as people say them, in the plain form that tools are described with.

    截个图     → 截图        a measure word between verb and object
    看看, 看一看 → 看          said twice
    整理整理   → 整理
    查一下天气  → 查天气       "a bit"

Only behind a verb of our list: 这个图 and 妹妹 stay as they are.
"""

import re
from functools import cache

from toolcrib.text.verbs import our_verbs

# What begins a word of its own behind a verb is no measure word: 查个人信息 asks for 个人信息.
_MEASURE = (
    r"(?:个(?![人性体股税案数月别位])|[篇封幅份条](?!件)|张(?=[图照表海票卡])|首(?=[歌曲诗]))"
)
_A_BIT = r"(?:一下|下(?![载来去一单午班边面周个月落线架]))"


def plain_verbs(text: str) -> str:
    """The text with its Chinese verbs in their plain form. Simplified characters are expected."""
    if text.isascii():
        return text
    verb, pair = _patterns()
    return verb.sub(r"\1", pair.sub(r"\1\2", text))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A verb of one character with what stands behind it, and one of two that is said twice."""
    chinese = [
        form for form, verb in our_verbs().verbs.items() if verb.family and not form.isascii()
    ]
    ones = "".join(form for form in chinese if len(form) == 1)
    twos = "|".join(form for form in chinese if len(form) == 2)  # noqa: PLR2004 - of two characters
    one = rf"([{ones}])(?:[一了]?\1(?![到成出掉为])|{_A_BIT}|一?{_MEASURE})"
    return re.compile(one), re.compile(rf"({twos})\1|({twos}){_A_BIT}")
