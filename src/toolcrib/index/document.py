"""A capability as the indexes see it: terms by field, spellings of its name, text to embed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from toolcrib.model import AgentInfo, Capability, Json, SkillInfo, ToolInfo
from toolcrib.text import fold, stems, terms, without_stopwords, words

Field = Literal["name", "label", "description", "detail"]
FIELDS: tuple[Field, ...] = get_args(Field)

LONGEST_TEXT = 4096
DEEPEST_SCHEMA = 4
NO_PRODUCT = frozenset(
    """
    mcp server servers api apis tool tools toolbox toolkit toolset agent agents ai app apps client
    service services sdk cli http stdio sse remote local official unofficial community simple my
    the for of and in with model context protocol integration connector plugin bridge wrapper js
    ts py python node typescript javascript go rust java lite mini pro plus core demo test example
    """.split()
)
"""Words in the names of servers that say nothing about what they are for."""


@dataclass(frozen=True, slots=True)
class Document:
    """What an index stores of one capability.

    `fields` are its terms in the order of `FIELDS`: its name; its label (titles, tags, category,
    search hint); its description in every language; its detail (parameter names and descriptions
    of a tool, the knowledge of a skill, what an agent says it can do). `labels` are its name, each
    title and each tag in words; `names` the folded spellings by which it can be named
    outright. `text` is what an embedder reads, `vector` what it makes of it.
    """

    id: str
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    fields: tuple[tuple[str, ...], ...]
    text: str
    vector: NDArray[np.float32] | None = None


def document_of(capability: Capability, *, id: str = "", bare: str = "") -> Document:
    """The document of a capability. `id`: its name by default. `bare`: the name without prefix."""
    name, own_name = id or capability.name, bare or capability.name
    titles = [capability.title, *capability.display.values()]
    label = [*titles, *capability.tags, capability.category, capability.search_hint]
    prose = [capability.description, *capability.desc.values()]
    return Document(
        id=name,
        names=tuple(dict.fromkeys([fold(name), fold(own_name)])),
        labels=_labels([own_name, *titles, *capability.tags]),
        fields=(
            _terms(words(own_name)),
            _terms(words(_joined([*label, capability.source_id or ""]))),
            _terms(without_stopwords(words(_joined(prose)))),
            _terms(without_stopwords(words(_joined(_detail(capability))))),
        ),
        text=embedded_text(capability, bare=bare),
    )


def embedded_text(capability: Capability, *, bare: str = "") -> str:
    """What an embedder reads of a capability: whose it is, its name, what it says, parameters."""
    return _joined(
        [
            server_words(f"{capability.source_id or ''} {capability.search_hint}"),
            bare or capability.name,
            capability.title,
            capability.description,
            *capability.desc.values(),
            " ".join(_parameters(capability)),
        ]
    )


def server_words(source_id: str) -> str:
    """The name of a server in the words that say what it is for: `acme-jira-mcp` is acme jira."""
    return " ".join(dict.fromkeys(w for w in words(source_id) if w not in NO_PRODUCT))


def _labels(texts: list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(tuple(dict.fromkeys(terms(words(t)))) for t in texts if t))


def _terms(some: Sequence[str]) -> tuple[str, ...]:
    return (*terms(some), *stems(some))


def _joined(texts: list[str]) -> str:
    return "\n".join(dict.fromkeys(filter(None, texts)))[:LONGEST_TEXT]


def _parameters(capability: Capability) -> Iterator[str]:
    """The names of a tool's parameters: they say what it needs, and often what it is about."""
    properties = capability.parameters.get("properties") if isinstance(capability, ToolInfo) else ()
    return map(str, properties if isinstance(properties, dict) else ())


def _detail(capability: Capability) -> list[str]:
    match capability:
        case ToolInfo():
            return list(_schema_words(capability.parameters, DEEPEST_SCHEMA))
        case SkillInfo():
            return [capability.body]
        case AgentInfo():
            return list(capability.skills)
        case _:
            return []


def _schema_words(schema: Json, depth: int) -> Iterator[str]:
    """The names and descriptions of the parameters in a JSON Schema, nested ones too."""
    if not isinstance(schema, dict) or not depth:
        return
    properties = schema.get("properties")
    if isinstance(properties, dict):
        for name, property_schema in properties.items():
            yield name
            yield from _description(property_schema)
            yield from _schema_words(property_schema, depth - 1)
    yield from _schema_words(schema.get("items"), depth - 1)


def _description(schema: Json) -> Iterator[str]:
    if isinstance(schema, dict) and isinstance(text := schema.get("description"), str):
        yield text
