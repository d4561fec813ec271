"""Skills: folders with a SKILL.md, which is front matter and, below it, written knowledge."""

from functools import partial
from pathlib import Path

from pydantic import BaseModel

from toolcrib.model import SkillInfo
from toolcrib.sources.files import FileSource, find_files
from toolcrib.sources.front_matter import Tags, Text, read_front_matter


class _Metadata(BaseModel):
    tags: Tags = ()
    category: str = ""


class _Head(BaseModel):
    name: Text
    description: Text
    tags: Tags = ()
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
        body=body,
        path=str(path),
    )
