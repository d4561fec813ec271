"""Which wire each provider's models speak, as of `AS_OF`: read from the SDKs and their documents.

Every model stands here by its name. A name that does not, even a newer one of the same family,
gets no native wire: `gpt-5.4` has tool search and `gpt-5.4-nano` refuses it, so no rule about
versions would do. A date behind a name (`-20251001`, `-2026-03-17`) is the same model.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

AS_OF = "2026-11-15"

Provider = Literal["anthropic", "openai_responses", "openai_chat", "gemini"]
WireMode = Literal["reference", "output", "inject", "append", "proxy"]
"""How a revealed tool reaches the model.

reference    Anthropic: `tool_reference` in a result, `defer_loading` on the tool
output       OpenAI Responses: `tool_search_output`
inject       OpenAI Responses: an `additional_tools` item
append       any provider: behind the others in `tools`
proxy        any provider: not at all; `call_tool` calls it
"""


@dataclass(frozen=True, slots=True)
class EndpointGroup:
    """A group of endpoints that are known to speak a provider's native wire."""

    hosts: re.Pattern[str]
    betas: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NativeMode:
    """One native mode: which models have it, and where."""

    mode: WireMode
    models: frozenset[str]
    places: tuple[EndpointGroup, ...]


CLAUDE = frozenset(
    """
    claude-fable-5 claude-fable-5-1 claude-fable-5-2
    claude-mythos-5 claude-mythos-5-1 claude-mythos-5-2
    claude-opus-4-5 claude-opus-4-6 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-opus-5-5
    claude-sonnet-4-5 claude-sonnet-4-6 claude-sonnet-5 claude-sonnet-5-5
    claude-haiku-4-5 claude-haiku-5-5
    """.split()
)
GPT_WITH_SEARCH = frozenset(
    """
    gpt-5.4 gpt-5.4-mini gpt-5.5 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna
    gpt-6-astra gpt-6-sol gpt-6-luna gpt-6.1-sol gpt-6.1-terra
    """.split()
)
GPT_WITH_ADDITIONS = GPT_WITH_SEARCH | frozenset(
    """
    gpt-4o gpt-4o-mini gpt-4.1 gpt-4.1-mini gpt-5 gpt-5-mini gpt-5.1 gpt-5.2 gpt-5.4-nano
    """.split()
)

SEARCHERS = frozenset(name.replace(".", "-") for name in CLAUDE | GPT_WITH_SEARCH)
"""The models that are taken to search by themselves: their providers have a tool search for them.

That they ask often enough was not measured here. For these `session.prefetch = "auto"` does not
prefetch: what it would show, the model can ask for, and on their native wires nothing of the cache
is lost by that. Every other model gets prefetch. Users report of qwen3, llama-4 and gpt-oss that
they rarely call a search tool. Of the rest nothing is known; a message that search is not sure of
shows nothing.
"""

_ANTHROPIC = EndpointGroup(re.compile(r"api\.anthropic\.com"))
_VERTEX = EndpointGroup(
    re.compile(r"(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com"), ("tool-search-tool-2025-10-19",)
)
_OPENAI = EndpointGroup(re.compile(r"(?:[a-z]{2}\.)?api\.openai\.com"))
_AZURE = EndpointGroup(re.compile(r"[a-z0-9-]+\.openai\.azure\.com"))

NATIVE: Mapping[Provider, tuple[NativeMode, ...]] = {
    "anthropic": (NativeMode("reference", CLAUDE, (_ANTHROPIC, _VERTEX)),),
    "openai_responses": (
        NativeMode("output", GPT_WITH_SEARCH, (_OPENAI, _AZURE)),
        NativeMode("inject", GPT_WITH_ADDITIONS, (_OPENAI,)),
    ),
    "openai_chat": (),
    "gemini": (),
}
"""The native modes of each provider, the best first. Behind them stands `append`, always."""

REFUSED: Mapping[WireMode, tuple[str, ...]] = {
    "reference": ("defer_loading", "tool_reference", "tool_search_tool"),
    "output": ("tool_search", "defer_loading", "namespace"),
    "inject": ("additional_tools",),
    "append": (),
    "proxy": (),
}
"""The words by which an endpoint that does not know a mode refuses it."""

OUR_FAULT = (
    "not found in available tools",
    "tool_reference_unresolved",
    "at least one tool must",
    "cache_control",
    "missing namespace",
    "tool_name_conflict",
    "compaction_too_many_tool_references",
)
"""What an endpoint says that knows the mode and was asked wrongly: no reason to give it up."""

PREFETCH_REFUSED = ("must start with a thinking block", "expected `thinking`")
"""The words by which Anthropic refuses a search that a model which thinks has not made itself."""

_DATE = re.compile(r"(?:-|@)(?:\d{8}|\d{4}-\d{2}-\d{2})$")


def searches_by_itself(model: str) -> bool:
    """Whether a model is one of `SEARCHERS`, also by the name that a router gives it."""
    name = undated(model.lower().rpartition("/")[2].partition(":")[0])
    return name.replace(".", "-") in SEARCHERS


def undated(model: str) -> str:
    """The model without the date of its snapshot."""
    return _DATE.sub("", model)
