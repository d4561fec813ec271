"""One entry of a tools.yaml: its keys, and what they say in the words of `ToolInfo`."""

from collections.abc import Mapping
from typing import Annotated, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from toolcrib.model import Defer, Json, PermissionKind
from toolcrib.sources.function import ToolFacts
from toolcrib.sources.yaml_file import Place, YamlFile
from toolcrib.text import nearest_names

NO_MAPPING = "must be a mapping of keys to values; indent them below it"

Platform = Literal["all", "linux", "macos", "windows"]


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class ToolEntry(BaseModel):
    """What may be said of a declared tool. A key left out says nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    function: str = ""
    available: bool = True
    searchable: bool = True
    category: str = ""
    tags: list[str] = []
    display: Mapping[str, str] = {}
    desc: Mapping[str, str] = {}
    platforms: Annotated[list[Platform], BeforeValidator(_as_list)] = ["all"]
    required: bool = False
    permission_kind: PermissionKind = "write"
    approval: Literal["ask"] | None = None
    defer: Defer = "automatic"
    search_hint: str = ""
    often_with: list[str] = []

    def facts(self, platform: str) -> ToolFacts:
        """What this entry says, and nothing of what it leaves out."""
        facts = ToolFacts(**self.model_dump(exclude_unset=True, exclude={"function", "available"}))
        if "available" in self.model_fields_set:
            facts["enabled"] = self.available
        if "platforms" in self.model_fields_set:
            facts["platform_available"] = not {"all", platform}.isdisjoint(self.platforms)
        if self.display:
            facts["title"] = _in_english(self.display)
        if self.desc:
            facts["description"] = _in_english(self.desc)
        return facts


def tool_entries(file: YamlFile, mistakes: list[str]) -> Mapping[str, ToolEntry]:
    """The entries by tool name; an empty file has none. What is wrong with others joins `mistakes`.

    Raises `DeclarationError` for a file that is no mapping.
    """
    if not isinstance(file.data or {}, Mapping):
        raise file.error((), NO_MAPPING)
    entries: dict[str, ToolEntry] = {}
    for name, said in cast("Mapping[str, Json]", file.data or {}).items():
        try:
            entries[name] = ToolEntry.model_validate(said)
        except ValidationError as error:
            mistakes += (_mistake(file, name, each) for each in error.errors())
    return entries


def _mistake(file: YamlFile, name: str, error: ErrorDetails) -> str:
    place = (name, *error["loc"])
    return f"{file.where(place)} {_told(error['type'], place, error['msg'])}"


def _told(problem: str, place: Place, text: str) -> str:
    match problem:
        case "extra_forbidden":
            near = nearest_names(str(place[-1]), list(ToolEntry.model_fields), limit=1, at_least=70)
            return "unknown key; " + (f"did you mean {near[0]!r}?" if near else "remove it")
        case "model_type" | "dict_type" | "mapping_type":
            return NO_MAPPING
        case _:
            return f"{text}; correct the value"


def _in_english(texts: Mapping[str, str]) -> str:
    """The English text, else the first one."""
    return texts.get("en") or next(iter(texts.values()))
