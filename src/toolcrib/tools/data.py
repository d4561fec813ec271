"""Data in text: JSON and CSV."""

import csv
import json
import re
from collections.abc import Iterator
from typing import Annotated, NoReturn, cast

from pydantic import Field

from toolcrib.model import Json
from toolcrib.text import nearest_names

_STEP = re.compile(r'(?:^|\.)(?P<key>[^.\[\]]+)|\[(?P<index>-?\d+)\]|\["(?P<quoted>[^"]*)"\]')


def query_json(text: str, path: str = "") -> Json:
    """Get one value out of a JSON document by its path.

    Args:
        text: The JSON document.
        path: Keys and positions, such as `users[0].name`, `items[-1]` or `["a key.with dots"]`;
            empty for the whole document.
    """
    value = _parse(text)
    for step in _steps(path):
        value = _child(value, step)
    return value


def format_json(
    text: str, indent: Annotated[int, Field(ge=0, le=8)] = 2, *, sort_keys: bool = False
) -> str:
    """Check that a text is JSON and lay it out for reading; an error says where it is not.

    Args:
        text: The JSON document.
        indent: Spaces a level; 0 for one line without spaces.
        sort_keys: Whether to put the keys of every object in alphabetical order.
    """
    separators = None if indent else (",", ":")
    return json.dumps(
        _parse(text),
        ensure_ascii=False,
        indent=indent or None,
        separators=separators,
        sort_keys=sort_keys,
    )


def csv_to_json(
    text: str, delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
) -> list[dict[str, str]]:
    """Convert CSV to a list of JSON objects, one a row, with the keys of the first row.

    Values stay text: `007` is not a number to everyone.

    Args:
        text: The CSV document; its first row names the columns.
        delimiter: The character between two values.
    """
    rows = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    names = next(rows, list[str]())
    if len(set(names)) < len(names):
        raise ValueError("two columns have one name; rename one in the first row")
    return [_row(names, row, rows.line_num) for row in rows if row]


def _row(names: list[str], row: list[str], line: int) -> dict[str, str]:
    if len(row) != len(names):
        raise ValueError(f"line {line} has {len(row)} values, not {len(names)}; quote or add some")
    return dict(zip(names, row, strict=True))


def _parse(text: str) -> Json:
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"this is not JSON: {error.msg} at {place}; correct it there") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON; write null or a text in its place")


def _steps(path: str) -> Iterator[int | str]:
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if not step:
            raise ValueError(f"{path[at:]!r} is not a step of a path; write a.b[0]")
        at = step.end()
        index, key, quoted = step["index"], step["key"], step["quoted"]
        yield int(index) if index else cast("str", key or quoted)


def _child(value: Json, step: int | str) -> Json:
    match value, step:
        case dict(), str() if step in value:
            return value[step]
        case dict(), str():
            near = ", ".join(nearest_names(step, list(value)) or list(value)[:10])
            raise ValueError(f"there is no key {step!r} here; there is: {near}")
        case list(), int() if -len(value) <= step < len(value):
            return value[step]
        case list(), _:
            raise ValueError(f"{step!r} is not a position in this list; it has {len(value)} values")
        case _:
            raise ValueError(f"{step!r} leads nowhere: the value here is {json.dumps(value):.60}")
