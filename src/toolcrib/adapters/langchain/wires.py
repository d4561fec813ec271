"""How the tools of a session reach each chat model of LangChain.

    reference    ChatAnthropic: deferred in `tools`, referred to by the result of the search
    inject       ChatOpenAI on the Responses API: an `additional_tools` item behind that result
    append       every other: behind the others in `tools`

The messages of an agent stay in plain words. What a wire wants otherwise is made for each request
anew, and so a conversation can go on with another model, or after a wire was refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AnyMessage

from toolcrib.adapters.auto import Auto, Choice
from toolcrib.adapters.auto_table import Provider, WireMode
from toolcrib.adapters.langchain_messages import (
    definition,
    function,
    with_additions,
    with_references,
)
from toolcrib.model import ToolInfo
from toolcrib.session import Session

APPEND = Choice("append", "this chat model has no wire of its own here")


@dataclass(frozen=True, slots=True)
class ChatModelWire:
    """Whom a chat model speaks to, and which of the modes we speak to it there."""

    provider: Provider
    model: str
    endpoint: str
    modes: frozenset[WireMode]

    def choose(self, auto: Auto) -> Choice:
        """The best of these modes, and why; one that needs a beta header is not among them."""
        choice = auto.choose(self.provider, self.model, self.endpoint, self.modes)
        return APPEND if choice.betas else choice


@dataclass(frozen=True, slots=True)
class WireRequest:
    """Tools and messages as they are to be sent."""

    tools: list[dict[str, Any]]
    messages: list[AnyMessage]


def wire_of_model(model: object) -> ChatModelWire | None:
    """What is known of a chat model; None for one that gets its tools appended.

    Told by what it has, not by its class: neither package has to be installed.
    """
    match model:
        case object(anthropic_api_url=str(url), model=str(name)):
            return ChatModelWire("anthropic", name, url, frozenset({"reference"}))
        case object(use_responses_api=True, use_previous_response_id=False, model_name=str(name)):
            base = getattr(model, "openai_api_base", None) or "https://api.openai.com/v1"
            return ChatModelWire("openai_responses", name, base, frozenset({"inject"}))
        case _:
            return None


def request_in_mode(
    mode: WireMode, session: Session, messages: Sequence[AnyMessage]
) -> WireRequest:
    """What this session shows and what was said, in the form of one mode.

    What is revealed waits in every mode but `append`, whether or not these messages still show how
    it was found: to list it with the others would change what stands before, and change it back
    when it is found again. Stubs are listed, and so leave nothing to wait.
    """
    if mode == "append" or session.style == "stub":
        return WireRequest([function(tool) for tool in session.active_tools()], [*messages])
    waiting = {tool.name: tool for tool in session.revealed_tools()}
    at_once = [function(tool) for tool in session.stable_tools()]
    if mode == "reference":
        deferred = [_deferred(tool) for tool in waiting.values()]
        return WireRequest([*at_once, *deferred], with_references(messages, waiting))
    definitions = {name: _flat_function(tool) for name, tool in waiting.items()}
    return WireRequest(at_once, with_additions(messages, definitions))


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
