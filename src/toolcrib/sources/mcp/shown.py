"""Text from a server, made fit to be shown: printable and short. See also `Redactor`."""


def shown(text: str, most: int) -> str:
    """The text on one line of printable characters; where it is too long, its beginning."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def shown_end(text: str, most: int) -> str:
    """The same; where it is too long, its end."""
    line = shown(text, len(text) + 1)
    return line if len(line) <= most else "…" + line[len(line) - most + 1 :]
