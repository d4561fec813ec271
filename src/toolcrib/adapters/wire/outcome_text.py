"""The text of an outcome that a model reads."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from toolcrib.model import CallError, Json, Outcome, ToolInfo
from toolcrib.program import ProgramOutcome
from toolcrib.session import (
    CALLABLE_NOW,
    RUN_TOOL,
    SEARCH_TOOL,
    callable_text,
    calls_text,
    page_note,
    remarks_in,
)

_GO_ON = 'Nothing is lost. Once a person has approved it, `{0}` with handle "{1}" goes on.'


def outcome_text(outcome: Outcome) -> str:
    """The error, or else the content: text as it is, also of a single text block, or as JSON.

    Of a program both, and what became of its calls where not all are done.
    """
    if isinstance(outcome, ProgramOutcome):
        return _program_text(outcome)
    if outcome.error:
        return error_text(outcome.error)
    content = outcome.structured if outcome.content is None else outcome.content
    match content:
        case str(text) | [{"type": "text", "text": str(text)}]:
            pass
        case _:
            text = json.dumps(content, ensure_ascii=False)
    return _after_note(outcome, text)


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a result: its media type and its bytes in base64."""

    media_type: str
    data: str


def outcome_parts(outcome: Outcome) -> str | list[str | Image]:
    """The same text, with the images of a result apart, for providers that take images."""
    match outcome.content:
        case [*blocks] if not outcome.error and any(map(_image, blocks)):
            parts = [_image(block) or outcome_text(Outcome([block])) for block in blocks]
            note = page_note(outcome)
            return [note, *parts] if note else parts
        case _:
            return outcome_text(outcome)


def _program_text(outcome: ProgramOutcome) -> str:
    lines: list[str] = []
    if outcome.content is not None or outcome.error is None:
        whole = Outcome(outcome.content, page=outcome.page, handle=outcome.handle)
        lines.append(outcome_text(whole))
    if outcome.error:
        lines.append(f"{outcome.error.code}: {outcome.error.message}")
    if outcome.suspended:
        lines.append(_GO_ON.format(RUN_TOOL.name, outcome.suspended))
    if outcome.error or any(call.effect != "done" for call in outcome.calls):
        lines += [calls_text(outcome.calls)] if outcome.calls else []
    return "\n".join(lines)


def _after_note(outcome: Outcome, text: str) -> str:
    note = page_note(outcome)
    return f"{note}\n{text}" if note else text


def _image(block: Json) -> Image | None:
    match block:
        case {"type": "image", "mimeType": str(media_type), "data": str(data)}:
            return Image(media_type, data)
        case _:
            return None


def error_text(error: CallError) -> str:
    """The error as JSON, with the schema where the arguments do not fit it."""
    facts = {key: value for key, value in asdict(error).items() if value not in ("", None)}
    return json.dumps({"error": facts}, ensure_ascii=False)


def is_error_text(text: str) -> bool:
    """Whether this is an `error_text`, on wires that do not mark errors in another way."""
    return text.startswith('{"error": {"code": ')


def text_beside_loaded(outcome: Outcome, *, hints: bool = True) -> str:
    """What the outcome of a search says besides the tools that it loaded; "" if nothing.

    For wires on which the loaded tools are not text: this text follows them. `hints`: see
    `remarks_in`.
    """
    remarks = remarks_in(outcome_text(outcome), hints=hints)
    return f"{SEARCH_TOOL.name} says besides:\n{remarks}" if remarks else ""


def unloaded_text(outcome: Outcome) -> str:
    """What a search found, where one answer cannot both load tools and describe them."""
    remedy = f"Not loaded yet: call {SEARCH_TOOL.name} with `select:` and the names that you want."
    return outcome_text(outcome).replace(CALLABLE_NOW, remedy, 1)


def loaded_text(names: Iterable[str]) -> str:
    """That these tools were found, in the words that `revealed_in` reads."""
    return "\n".join([CALLABLE_NOW, *(f"- {name}(…)" for name in names)])


def prefetched_text(tools: Iterable[ToolInfo]) -> str:
    """What a message of the user has shown, where a model is shown no definitions; "" if nothing.

    The same bytes as long as the catalog is the same.
    """
    found = callable_text(tools)
    return f"{SEARCH_TOOL.name} found by the message above:\n{found}" if found else ""


def gone_text(names: Iterable[str]) -> str:
    """That these tools were found before, and are not there any more."""
    return f"Not available any more: {', '.join(names)}"
