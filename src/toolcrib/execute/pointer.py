"""References within one schema, read as the validator reads them (RFC 6901 within RFC 3986)."""

import re
from urllib.parse import unquote_to_bytes

from toolcrib.model import Json

_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")


def pointed_at(root: Json, reference: str) -> Json:
    """What a local reference (`#`, `#/a/b`) leads to; None if nothing is there.

    None too for one that two readers could read differently: whoever needs to know what stands
    there has to refuse it.
    """
    try:
        pointer = unquote_to_bytes(reference.removeprefix("#")).decode()
    except ValueError:
        return None
    found = root
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        match found:
            case {**inner}:
                found = inner.get(key)
            case list() if _INDEX.fullmatch(key) and int(key) < len(found):
                found = found[int(key)]
            case _:
                return None
    return found
