"""How much a pattern repeats: what a linear-time engine pays for in every character it reads."""

import re

_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|.", re.DOTALL)


def steps(pattern: str) -> int:
    """About how many steps a pattern has once its counted repeats are written out.

    `a{3}` has three, `(ab{2}){10}` thirty. A repeat without an upper bound counts as its lower one.
    """
    done: list[int] = []
    group = last = 0
    for piece in _PIECE.finditer(pattern):
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
