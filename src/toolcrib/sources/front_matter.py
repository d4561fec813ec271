"""Markdown that begins with YAML between two lines of `---`: what skills and agents are made of."""

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, StringConstraints, ValidationError

from toolcrib.errors import DeclarationError
from toolcrib.sources.text_file import read_text
from toolcrib.sources.yaml_file import YamlFile, parse_yaml

Head = TypeVar("Head", bound=BaseModel)

_FENCE = "---"


def _split(value: object) -> object:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Tags = Annotated[tuple[Text, ...], BeforeValidator(_split)]
"""A list, or one text with commas."""


def read_front_matter(path: Path, kind: type[Head]) -> tuple[Head, str]:
    """What the file says of itself, as a `kind`, and the text below it, trimmed.

    Raises `DeclarationError` naming file, line and key. Keys that `kind` does not know are left
    alone: other programs read these files too.
    """
    file, body = _parse(read_text(path), path)
    try:
        return kind.model_validate(file.data or {}), body
    except ValidationError as error:
        first = error.errors()[0]
        cause = "is missing; add it" if first["type"] == "missing" else first["msg"]
        raise file.error(first["loc"], cause) from None


def _parse(text: str, path: Path) -> tuple[YamlFile, str]:
    lines = [line.rstrip() for line in text.split("\n")]
    if lines[0] != _FENCE:
        raise DeclarationError(f"{path}:1: there is no front matter; begin with a line of ---")
    if _FENCE not in lines[1:]:
        raise DeclarationError(f"{path}:1: the front matter does not end; add a line of ---")
    end = lines.index(_FENCE, 1)
    file = parse_yaml("\n".join(lines[1:end]), path, first_line=2)
    return file, "\n".join(lines[end + 1 :]).strip()
