"""Which language a text is in, as far as search needs to know."""

import re
from collections.abc import Mapping
from typing import Literal

Language = Literal["zh", "en"]
LANGUAGE_NAMES: Mapping[Language, str] = {"zh": "Chinese", "en": "English"}

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")


def detect_language(text: str) -> Language:
    """Chinese when a fifth of the letters are Han characters, else English.

    One Han character says about as much as four Latin letters, hence a fifth and not a half.
    """
    if text.isascii():
        return "en"
    letters = len(_LETTER.findall(text))
    return "zh" if letters and len(_HAN.findall(text)) * 5 >= letters else "en"
