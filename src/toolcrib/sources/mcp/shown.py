"""Text from a server, made fit to be shown: printable, short, and without its secrets."""

from collections.abc import Iterable

SHORTEST_SECRET = 6
HIDDEN = "***"


def shown(text: str, most: int, secrets: Iterable[str] = ()) -> str:
    """The text on one line of printable characters; where it is too long, its beginning."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, HIDDEN)
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def shown_end(text: str, most: int, secrets: Iterable[str] = ()) -> str:
    """The same; where it is too long, its end."""
    line = shown(text, len(text) + 1, secrets)
    return line if len(line) <= most else "…" + line[len(line) - most + 1 :]
