"""Text from a server, made fit to be shown: printable and short. See also `Redactor`."""

from toolcrib.text.hidden import without_hidden

LOOKED_AT = 8
"""So many times the length that is wanted is looked at; of what is longer, nothing is said."""


def shown(text: str, most: int) -> str:
    """The text on one line of printable characters, with nothing hidden in it.

    Where it is too long, its beginning.
    """
    line = _line(text[: LOOKED_AT * most])
    return line if len(line) <= most else line[: most - 1] + "…"


def shown_end(text: str, most: int) -> str:
    """The same; where it is too long, its end."""
    line = _line(text[-LOOKED_AT * most :])
    return line if len(line) <= most else "…" + line[len(line) - most + 1 :]


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in without_hidden(text)).split())
