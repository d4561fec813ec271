"""A page of a long result in a session: the note before it, and how a model reads on.

It reads on with the search tool, which every session can show: `read` takes `result:HANDLE/2` for
the second page, and `result:HANDLE/find/WORDS` for the lines that have these words.
"""

from typing import NamedTuple

from toolcrib.model import Outcome
from toolcrib.session.search_tool import SEARCH_TOOL_NAME

PREFIX = "result:"
_FIND = "find/"
_MARK = f'`{SEARCH_TOOL_NAME}` with read "{PREFIX}'
_LONGEST_NOTE = 1_000


class PageRequest(NamedTuple):
    """The page that a model asks for; with `find`, of the lines that have these words."""

    handle: str
    number: int
    find: str


def read_page_request(read: str) -> PageRequest | None:
    """What `read` asks for; None if it names no result. What is no number means the first page."""
    if not read.startswith(PREFIX):
        return None
    handle, _, rest = read.removeprefix(PREFIX).partition("/")
    number, _, find = f"/{rest}".partition(f"/{_FIND}")
    digits = number.strip("/")
    return PageRequest(handle, int(digits) if digits.isdecimal() else 1, find)


def page_note(outcome: Outcome) -> str:
    """What stands before a page: how large the result is, and how to go on. "" for no page."""
    page, handle = outcome.page, outcome.handle
    if page is None:
        return ""
    after = f"{_FIND}{page.found}" if page.found else ""
    following = f'{_MARK}{handle}/{page.number + 1}{"/" if after else ""}{after}"'
    finding = f'{_MARK}{handle}/{_FIND}WORDS"'
    return page.note(following if handle else "", finding if handle else "")


def begins_with_page_note(text: str) -> bool:
    """Whether a text that a model was given begins with what `page_note` says."""
    return _MARK in text[:_LONGEST_NOTE]
