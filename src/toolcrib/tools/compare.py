"""Compare two texts."""

import difflib
from typing import Annotated

from pydantic import Field

MAX_LINES = 5000


def compare_text(before: str, after: str, context: Annotated[int, Field(ge=0, le=100)] = 3) -> str:
    """Show the lines in which two texts differ, as a unified diff; empty if they are equal.

    Args:
        before: The first text.
        after: The second text.
        context: How many equal lines to show around each difference.
    """
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MAX_LINES:
        raise ValueError(f"a text has more than {MAX_LINES} lines; compare parts of it")
    return "\n".join(difflib.unified_diff(old, new, "before", "after", lineterm="", n=context))
