"""Skills: folders with a SKILL.md, which is front matter and, below it, written knowledge."""

from functools import partial
from pathlib import Path
from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator

from toolcrib.model import SkillInfo
from toolcrib.sources.files import FileSource, find_files
from toolcrib.sources.front_matter import Tags, Text, read_front_matter


def _texts(value: object) -> object:
    """The names in a list or in a text with commas; `tools` may be another program's key."""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list):
        return ()
    texts = (each.strip() for each in cast("list[object]", listed) if isinstance(each, str))
    return tuple(filter(None, texts))


_Names = Annotated[tuple[str, ...], BeforeValidator(_texts)]


class _Metadata(BaseModel):
    tags: Tags = ()
    category: str = ""


class _Head(BaseModel):
    name: Text
    description: Text
    tags: Tags = ()
    tools: _Names = ()
    metadata: _Metadata = _Metadata()


class SkillSource(FileSource[SkillInfo]):
    """Every SKILL.md in this folder and a few levels below it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(partial(find_files, folder, "SKILL.md"), read_skill)


def read_skill(path: Path) -> SkillInfo:
    """Raises `DeclarationError` naming file, line and key."""
    head, body = read_front_matter(path, _Head)
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
