"""What a server wrote to its standard error, and the part of it that tells why it ended.

Programs explain their options behind the error, or print the way to it: the cause is neither
always first nor always last. It is the line that calls itself an error, and what belongs to it.
"""

import re

_NAMED = re.compile(
    r"(?:[\w.]*(?:Error|Exception)\b(?: \[\w+\])?|(?:npm )?(?:error|err!|fatal|panic)\b).*",
    re.IGNORECASE,
)
_LEVEL = re.compile(
    r"[EF][0-9]{4} |.*(?:\b(?:ERROR|FATAL|CRITICAL|PANIC)\b|\b(?:error|fatal)\b[:=\]])"
)
_BAD_NEWS = re.compile(
    r"\b(?:failed|cannot|can't|could not|denied|refused|missing|required|invalid"
    r"|not (?:found|set|installed|available)|no such|unable|unsupported"
    r"|(?:please|must) (?:be )?(?:set|provided?))\b",
    re.IGNORECASE,
)
_USAGE = re.compile(r"(?:usage|options|flags|commands)\b:?", re.IGNORECASE)
_STACK = re.compile(r"\s+at |\s*File \"|Traceback |Node\.js v|\s*\^+\s*$|-+$")
_NOISE = re.compile(r"npm (?:notice|warn)\b|\(node:[0-9]+\)|\(Use `node --trace", re.IGNORECASE)
"""What a package runner or an interpreter adds to whatever a server says."""
_OPTION = re.compile(r"-{1,2}\w")
_FRAME = re.compile(r"^[\s|+]*")


def cause(text: str) -> str:
    """The lines that tell why a program ended; all of the text where no line seems to.

    What its runner adds is left out. Of a Python traceback that is the last error, for it wraps
    those before it; else the first.
    """
    told = (line for line in text.splitlines() if line.strip() and not _NOISE.match(line))
    lines = [line for line in told if not _STACK.match(line)]
    bare = [_FRAME.sub("", line) for line in lines]
    for tells in (_NAMED.match, _LEVEL.match, _BAD_NEWS.search):
        places = [at for at, line in enumerate(bare) if tells(line) and not _OPTION.match(line)]
        if places:
            at = places[-1] if "Traceback " in text else places[0]
            return "\n".join(_belonging(bare[at:]))
    return text


def _belonging(lines: list[str]) -> list[str]:
    """The first line and those behind it, up to where the program explains itself."""
    ends = (at for at, line in enumerate(lines) if at and _USAGE.match(line))
    return lines[: next(ends, len(lines))]
