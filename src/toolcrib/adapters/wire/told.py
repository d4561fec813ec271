"""An outcome in the words that a model reads."""

import json
from collections.abc import Iterable
from dataclasses import asdict

from toolcrib.model import CallError, Outcome
from toolcrib.session.found import LOADED


def told(outcome: Outcome) -> str:
    """The error, or else the content: text as it is, also of a single text block, or as JSON."""
    if outcome.error:
        return told_error(outcome.error)
    content = outcome.structured if outcome.content is None else outcome.content
    match content:
        case str(text) | [{"type": "text", "text": str(text)}]:
            pass
        case _:
            text = json.dumps(content, ensure_ascii=False)
    return f"{text}\n[cut here: the result is larger]" if outcome.handle else text


def told_error(error: CallError) -> str:
    """The error as JSON, with the schema where the arguments do not fit it."""
    facts = {key: value for key, value in asdict(error).items() if value not in ("", None)}
    return json.dumps({"error": facts}, ensure_ascii=False)


def told_loaded(names: Iterable[str]) -> str:
    """That these tools were found, in words that `revealed_in` reads back."""
    return "\n".join([LOADED, *(f"- {name}(…)" for name in names)])


def told_gone(names: Iterable[str]) -> str:
    """That these tools were found once, and are no more."""
    return f"Not available any more: {', '.join(names)}"
