"""Notes that last: one Markdown file each, in the user's data folder."""

import hashlib
from pathlib import Path
from typing import Annotated, TypedDict

from platformdirs import user_data_path
from pydantic import StringConstraints

from toolcrib.text import nearest_names
from toolcrib.tools.text_files import read_text, write_text

LONGEST_EXCERPT = 200

Title = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\r\n]{1,200}$")]


class SavedNote(TypedDict):
    """A note, or the beginning of one."""

    title: str
    text: str


def save_note(title: Title, text: str, *, overwrite: bool = False) -> str:
    """Save a note under a title, to be found again in later conversations.

    Args:
        title: One line that says what the note is about.
        text: The note itself.
        overwrite: Whether a note with this title may be replaced.
    """
    place = _place(title)
    if place.exists() and not overwrite:
        raise FileExistsError(f"there is a note {title!r}; set overwrite, or choose another title")
    write_text(place, f"# {title}\n\n{text}\n")
    return f"saved the note {title!r}"


def search_notes(text: str = "") -> list[SavedNote]:
    """Search the saved notes; returns titles and beginnings, sorted by title.

    Args:
        text: Words that must all occur in the note, in either case; empty for every note.
    """
    words = text.casefold().split()
    found = [note for note in _notes() if all(word in _whole(note) for word in words)]
    return [SavedNote(title=note["title"], text=note["text"][:LONGEST_EXCERPT]) for note in found]


def read_note(title: Title) -> SavedNote:
    """Read a saved note.

    Args:
        title: The title that it was saved under.
    """
    return _read(_existing(title))


def delete_note(title: Title) -> str:
    """Delete a saved note for good.

    Args:
        title: The title that it was saved under.
    """
    _existing(title).unlink()
    return f"deleted the note {title!r}"


def _folder() -> Path:
    return user_data_path("toolcrib") / "notes"


def _place(title: str) -> Path:
    """A title is any text, so the file's name is its hash: no title leads out of the folder."""
    return _folder() / f"{hashlib.sha256(title.encode()).hexdigest()[:32]}.md"


def _existing(title: str) -> Path:
    place = _place(title)
    if not place.exists():
        near = ", ".join(nearest_names(title, [note["title"] for note in _notes()]))
        raise FileNotFoundError(f"there is no note {title!r}; there is: {near or 'none like it'}")
    return place


def _notes() -> list[SavedNote]:
    return sorted(map(_read, _folder().glob("*.md")), key=lambda note: note["title"])


def _read(place: Path) -> SavedNote:
    title, _, text = read_text(place).partition("\n\n")
    return SavedNote(title=title.removeprefix("# "), text=text.removesuffix("\n"))


def _whole(note: SavedNote) -> str:
    return f"{note['title']}\n{note['text']}".casefold()
