"""How the tools of a session reach each chat model of LangChain.

    reference    ChatAnthropic: deferred in `tools`, referred to by the result of the search
    inject       ChatOpenAI on the Responses API: an `additional_tools` item behind that result
    append       every other: behind the others in `tools`

The messages of an agent stay plain text. The form that a wire wants is made anew for each request,
so a conversation can go on with another model, or after a wire was refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AnyMessage

from toolcrib.adapters.auto import Auto, Choice, choose_prefetch
from toolcrib.adapters.auto_table import Provider, WireMode
from toolcrib.adapters.langchain_messages import (
    definition,
    function,
    said_in,
    with_additions,
    with_references,
)
from toolcrib.model import ToolInfo
from toolcrib.session import Session

APPEND = Choice("append", "this chat model has no wire of its own here")


@dataclass(frozen=True, slots=True)
class ChatModelWire:
    """The endpoint of a chat model, and the modes that we can use there."""

    provider: Provider
    model: str
    endpoint: str
    modes: frozenset[WireMode]

    def choose(self, auto: Auto) -> Choice:
        """The best of these modes, and why. A mode that needs a beta header is not used."""
        choice = auto.choose(self.provider, self.model, self.endpoint, self.modes)
        return APPEND if choice.betas else choice


@dataclass(frozen=True, slots=True)
class WireRequest:
    """Tools and messages as they are to be sent."""

    tools: list[dict[str, Any]]
    messages: list[AnyMessage]


def wire_of_model(model: object) -> ChatModelWire | None:
    """The wire of a chat model; None for one that gets its tools appended.

    Recognized by its attributes, not by its class: neither package has to be installed.
    """
    match model:
        case object(anthropic_api_url=str(url), model=str(name)):
            return ChatModelWire("anthropic", name, url, frozenset({"reference"}))
        case object(use_responses_api=True, use_previous_response_id=False, model_name=str(name)):
            base = getattr(model, "openai_api_base", None) or "https://api.openai.com/v1"
            return ChatModelWire("openai_responses", name, base, frozenset({"inject"}))
        case _:
            return None


def prefetches(session: Session, model: object, mode: WireMode) -> bool:
    """Whether the user's messages are prefetched for this chat model.

    With a thinking budget Anthropic refuses a search that the model has not made itself.
    """
    match model:
        case object(thinking={"type": "enabled"}) if mode == "reference":
            return False
        case object(model_name=str(name)) | object(model=str(name)):
            return choose_prefetch(session.prefetch_mode, name).on
        case _:
            return choose_prefetch(session.prefetch_mode, "").on


def request_in_mode(
    mode: WireMode, session: Session, messages: Sequence[AnyMessage]
) -> WireRequest:
    """The tools of this session and the messages, in the form of one mode.

    A revealed tool is deferred in every mode but `append`, even if these messages do not show any
    more how it was found: listing it with the others would change the list, and change it back when
    it is found again. Stubs are listed, so nothing is deferred then; in code mode nothing is
    revealed.
    """
    if mode == "append" or session.style != "hidden":
        return WireRequest([function(tool) for tool in session.active_tools()], [*messages])
    shown = session.prefetched(map(said_in, messages))
    waiting = {tool.name: tool for tool in session.revealed_tools()}
    at_once = [function(tool) for tool in session.stable_tools()]
    if mode == "reference":
        deferred = [_deferred(tool) for tool in waiting.values()]
        return WireRequest([*at_once, *deferred], with_references(messages, waiting, shown))
    definitions = {name: _flat_function(tool) for name, tool in waiting.items()}
    return WireRequest(at_once, with_additions(messages, definitions, shown))


def _flat_function(tool: ToolInfo) -> dict[str, Any]:
    return {"type": "function", **definition(tool)}


def _deferred(tool: ToolInfo) -> dict[str, Any]:
    """The form of Anthropic, which LangChain hands on as it is."""
    fields = definition(tool)
    return {
        "name": fields["name"],
        "description": fields["description"],
        "input_schema": fields["parameters"],
        "defer_loading": True,
    }
