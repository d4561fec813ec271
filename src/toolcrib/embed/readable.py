"""Text as an embedder may read it."""

LONGEST_TEXT = 8_000
"""In characters. More than any document here has, and within what embedding models take."""


def readable(text: str) -> str:
    """The first `LONGEST_TEXT` characters, with U+FFFD for each half of a broken surrogate pair.

    Neither JSON in UTF-8 nor a tokeniser can carry such a half.
    """
    return text[:LONGEST_TEXT].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
