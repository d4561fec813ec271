"""Regular expressions that cannot hang: the linear-time engine that comes with pydantic.

What such an engine pays for in every character it reads is how much a pattern repeats: so counted
repeats are bounded too.
"""

import re
from collections.abc import Callable

LONGEST_PATTERN = 200
MOST_STEPS = 250

_REGEX_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|.", re.DOTALL)


class BadPattern(ValueError):
    """A pattern that the engine does not take. The message says why."""


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """A test for whether the pattern occurs anywhere in a text, whatever the case of its letters.

    Look-around and back-references are refused: they are what makes patterns slow. So are many
    repeats: the time is linear in the text, and in the pattern with its repeats written out.
    """
    from pydantic_core import SchemaError, SchemaValidator, core_schema  # noqa: PLC0415 - seldom

    if len(pattern) > LONGEST_PATTERN:
        message = f"the pattern has {len(pattern)} characters; {LONGEST_PATTERN} is the most"
        raise BadPattern(message)
    if _unrolled_steps(pattern) > MOST_STEPS:
        raise BadPattern(f"the pattern repeats too much: more than {MOST_STEPS} steps")
    try:
        schema = core_schema.str_schema(pattern=f"(?i){pattern}", regex_engine="rust-regex")
        return SchemaValidator(schema).isinstance_python
    except (SchemaError, UnicodeEncodeError) as error:
        raise BadPattern(_reason(error)) from error


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "error" in line), lines[-1])


def _unrolled_steps(pattern: str) -> int:
    """About how many steps a pattern has once its counted repeats are written out.

    `a{3}` has three, `(ab{2}){10}` thirty. A repeat without an upper bound counts as its lower one.
    """
    done: list[int] = []
    group = last = 0
    for piece in _REGEX_PIECE.finditer(pattern):
        match piece[0]:
            case "(":
                done.append(group)
                group = last = 0
            case ")":
                last = group
                group += done.pop() if done else 0
            case "*" | "+" | "?":
                pass
            case _ if piece[1]:
                times = max(1, int(piece[2] or piece[1]))
                group += last * (times - 1)
                last *= times
            case _:
                group, last = group + 1, 1
    return group + sum(done)
