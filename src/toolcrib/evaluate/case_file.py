"""Cases as a YAML file that a person reads, corrects and adds to."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from toolcrib.errors import EvalError
from toolcrib.evaluate.draft import DraftCase, DraftSplit

_PLAIN = re.compile(r"[^\W\d_][\w ,.'’?!()/+%@-]*", re.UNICODE)
_WORDS_OF_YAML = frozenset("true false yes no on off null y n".split())
_HEAD = """\
# Cases for `toolcrib eval run {name}`: what is asked, and the tools that should be found.
#
# This is a first draft. Correct it: a measure is worth as much as its cases are.
#
#   query      what somebody would type. Put it into the words that you and your users use.
#   relevant   the names of the tools that serve it; [] says that none does.
#   split      a group of cases with measures of its own. Give a case that you have corrected, or
#              written yourself, a split of your own, such as `mine`, so that you can tell them
#              from guesses. Delete what makes no sense.
#   relevance  add `relevance: any` where one of several tools is enough; else all count.
#
# All keys: `toolcrib help eval`.
"""
_SECTIONS: dict[DraftSplit, str] = {
    "use": """\
# From recorded use: words of searches after which this tool was called. The query itself is not
# kept, and only words of your catalog are known again: make a sentence of them.
""",
    "guess": """\
# Guesses, made from what each tool says of itself. They are easier than what people type: say it
# as you would, with what you leave out, misspell or call by another name.
""",
    "none": """\
# Requests that no tool serves: search should leave them empty. Delete those that yours do serve,
# and add what people ask for in vain.
""",
}


def write_cases(path: Path, cases: Sequence[DraftCase], *, force: bool = False) -> None:
    """Write the cases. A file that is there is overwritten by `force` alone. Raises `EvalError`."""
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(case_text(cases, path.name))
    except FileExistsError as error:
        raise EvalError(
            f"{path} is there already, perhaps with cases that you have corrected; "
            "name another file, or overwrite it with --force"
        ) from error
    except OSError as error:
        raise EvalError(f"{path}: the cases cannot be written: {error}") from error


def case_text(cases: Sequence[DraftCase], name: str) -> str:
    """The file of that name, as `load_cases` reads it."""
    parts = [_HEAD.format(name=_one_line(name))]
    for split, section in _SECTIONS.items():
        some = [_case(each) for each in cases if each.split == split]
        parts += [section, *some] if some else []
    return "\n".join(parts)


def _case(case: DraftCase) -> str:
    lines = [
        f"- query: {_scalar(case.query)}",
        f"  relevant: {_list(case.relevant)}",
        *(["  relevance: any"] if len(case.relevant) > 1 else []),
        f"  split: {case.split}",
    ]
    note = _one_line(case.note)
    return "\n".join([*([f"# {note}"] if note else []), *lines, ""])


def _list(names: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted_in_list, names))}]"


def _quoted_in_list(name: str) -> str:
    """Within brackets a comma ends a value."""
    return _scalar(name) if "," not in name else _quoted(name)


def _scalar(text: str) -> str:
    """The text as YAML reads it back: as it is, if it can only be read as this text."""
    plain = (
        _PLAIN.fullmatch(text)
        and text.isprintable()
        and text == text.strip()
        and text.lower() not in _WORDS_OF_YAML
    )
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    """In double quotes, with whatever is not to be seen written out."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if char.isprintable() else f"\\U{ord(char):08x}"


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
