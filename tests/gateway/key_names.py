"""The name of a key in what is told of its holder, who has the id of the key too."""

import re

_ID = re.compile(r"(key:[^\s#\"]+)#[0-9a-f]{12}")


def named(text: str) -> str:
    """The text, with keys by their names alone."""
    return _ID.sub(r"\1", text)
