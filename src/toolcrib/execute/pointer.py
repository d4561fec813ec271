"""References within one schema."""

from toolcrib.model import Json


def pointed_at(root: Json, reference: str) -> Json:
    """What a local reference (`#`, `#/a/b`) leads to; None if nothing is there."""
    found = root
    for part in reference.removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        match found:
            case {**inner}:
                found = inner.get(key)
            case list() if key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            case _:
                return None
    return found
