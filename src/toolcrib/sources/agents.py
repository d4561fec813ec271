"""Agents that work can be handed to: A2A agent cards (JSON), or markdown with front matter."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from toolcrib.errors import DeclarationError
from toolcrib.model import AgentInfo
from toolcrib.sources.declaration_file import Tags, Text, read_front_matter
from toolcrib.sources.file_source import FileSource, find_files, read_within
from toolcrib.sources.text_file import read_text_file

_PATTERNS = ("agent.json", "agent-card.json", "*.agent.json", "*.md")
_NOT_AGENTS = {"readme.md", "skill.md"}


class _AgentHead(BaseModel):
    name: Text
    description: Text
    tags: Tags = ()


class _Skill(BaseModel):
    name: Text
    description: str = ""
    tags: Tags = ()

    def summary(self) -> str:
        return f"{self.name}: {self.description}" if self.description else self.name


class _Interface(BaseModel):
    url: str


class _Card(_AgentHead):
    """Cards before A2A 1.0 have one `url`, later ones a list of interfaces, the preferred first."""

    url: str = ""
    interfaces: Sequence[_Interface] = Field((), alias="supportedInterfaces")
    skills: Sequence[_Skill] = ()


class AgentSource(FileSource[AgentInfo]):
    """Every agent in this folder and a few levels below it, or the one in this file.

    README.md and SKILL.md are not taken for agents.
    """

    def __init__(self, place: Path) -> None:
        super().__init__(partial(_agent_files, place), read_within(place, read_agent))


def read_agent(path: Path) -> AgentInfo:
    """Raises `DeclarationError` naming file and key, and the line where there is one to name."""
    return _from_card(path) if path.suffix == ".json" else _from_markdown(path)


def _agent_files(place: Path) -> Sequence[Path]:
    if place.is_file():
        return [place]
    return [path for path in find_files(place, *_PATTERNS) if path.name.lower() not in _NOT_AGENTS]


def _from_markdown(path: Path) -> AgentInfo:
    head, _ = read_front_matter(path, _AgentHead)
    return _agent(path, head, head.tags)


def _from_card(path: Path) -> AgentInfo:
    try:
        card = _Card.model_validate_json(read_text_file(path))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "agent card"
        raise DeclarationError(f"{path}: {key}: {first['msg']}; correct it") from None
    tags = dict.fromkeys([*card.tags, *(tag for skill in card.skills for tag in skill.tags)])
    url = card.url or next((interface.url for interface in card.interfaces), "")
    return _agent(path, card, tuple(tags), url, tuple(skill.summary() for skill in card.skills))


def _agent(
    path: Path, head: _AgentHead, tags: tuple[str, ...], url: str = "", skills: tuple[str, ...] = ()
) -> AgentInfo:
    return AgentInfo(
        name=head.name,
        description=head.description,
        source="files",
        permission_kind="execute",
        tags=tags,
        skills=skills,
        url=url,
        path=str(path),
    )
