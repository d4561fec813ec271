"""Skills: folders with a SKILL.md, which is front matter and, below it, written knowledge.

The other files of such a folder are listed, and read one at a time. Nothing outside the folder is
read, whatever a path or a link says, and no hidden file.
"""

from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator

from toolcrib.errors import DeclarationError, SourceError
from toolcrib.model import SkillInfo
from toolcrib.sources.declaration_file import Tags, Text, read_front_matter
from toolcrib.sources.file_source import FileSource, find_files, read_within
from toolcrib.sources.text_file import MAX_BYTES, decode_text
from toolcrib.text import without_hidden
from toolcrib.tools import OwnFiles, Roots, walk_files

MOST_FILES = 40


def _split_names(value: object) -> object:
    """The names in a list or in a text with commas; `tools` may be another program's key."""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list):
        return ()
    texts = (each.strip() for each in cast("list[object]", listed) if isinstance(each, str))
    return tuple(filter(None, texts))


_Names = Annotated[tuple[str, ...], BeforeValidator(_split_names)]


class _Metadata(BaseModel):
    tags: Tags = ()
    category: str = ""


class _SkillHead(BaseModel):
    name: Text
    description: Text
    tags: Tags = ()
    tools: _Names = ()
    metadata: _Metadata = _Metadata()


class SkillSource(FileSource[SkillInfo]):
    """Every SKILL.md in this folder and a few levels below it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(partial(find_files, folder, "SKILL.md"), read_within(folder, read_skill))


def read_skill(path: Path) -> SkillInfo:
    """Raises `DeclarationError` naming file, line and key."""
    head, body = read_front_matter(path, _SkillHead)
    return SkillInfo(
        name=head.name,
        description=head.description,
        source="files",
        permission_kind="read",
        category=head.metadata.category,
        tags=head.tags or head.metadata.tags,
        often_with=head.tools,
        body=body,
        path=str(path),
    )


def skill_files(skill: SkillInfo, own: OwnFiles) -> tuple[str, ...]:
    """The paths of the files beside SKILL.md, within its folder; at most `MOST_FILES`.

    A file with hidden text in its name is left out.
    """
    main = Path(skill.path)
    if not skill.path or not main.parent.is_dir():
        return ()
    roots = Roots([main.parent], own)
    found = (
        path.relative_to(main.parent).as_posix()
        for path in walk_files(main.parent, roots.is_own)
        if path != main and path.is_file() and not path.is_symlink()
    )
    return tuple(islice(filter(_is_plain, found), MOST_FILES))


def read_skill_file(skill: SkillInfo, path: str, own: OwnFiles) -> str:
    """The text of a file in the folder of a skill, without hidden text.

    Raises `SourceError` for a path that leads out of the folder, for a hidden file, and for what is
    not a file, too large, or not text.
    """
    if not skill.path:
        raise SourceError(f"{skill.name!r} has no folder, and so no files")
    if any(part.startswith(".") for part in Path(path).parts):
        raise _elsewhere(skill, path)
    roots = Roots([Path(skill.path).parent], own)
    try:
        place = roots.resolve(path)
        if not place.is_file():
            raise SourceError(f"{skill.name!r} has no file {path!r:.200}; read the skill itself")
        with roots.open(place) as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise SourceError(f"{path!r} of {skill.name!r} is larger than {MAX_BYTES} bytes")
        return without_hidden(decode_text(place, content))
    except PermissionError:
        raise _elsewhere(skill, path) from None
    except (OSError, ValueError) as error:
        raise SourceError(f"{path!r:.200} of {skill.name!r} cannot be read: {error}") from error
    except DeclarationError:
        raise SourceError(f"{path!r} of {skill.name!r} is not UTF-8 text") from None


def _is_plain(name: str) -> bool:
    return name.isprintable() and without_hidden(name) == name


def _elsewhere(skill: SkillInfo, path: str) -> SourceError:
    return SourceError(f"{path!r:.200} is not among the files of {skill.name!r}; name one of those")
