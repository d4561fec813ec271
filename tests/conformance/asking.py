"""Tools that ask back: by requests of their own before 2026-07-28, by what they return since.

Each does both, whatever the scenario that it is for: the gateway speaks to its servers in an era
that has nothing to do with its client's.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import BaseModel

from tests.conformance.tools import Asked, Result, Tool, text

Asks = Callable[[Asked], Awaitable[Result]]
MODERN = "2026-07-28"
KINDS: Mapping[str, tuple[Any, type[BaseModel]]] = {
    "elicitation/create": (types.ElicitRequest, types.ElicitResult),
    "roots/list": (types.ListRootsRequest, types.ListRootsResult),
    "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult),
}


def form(message: str, **properties: Mapping[str, Any]) -> dict[str, Any]:
    """A question with these fields, all of which have to be filled in."""
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    }


def sample(words: str, tokens: int = 100) -> dict[str, Any]:
    """A question to the client's model."""
    message = {"role": "user", "content": {"type": "text", "text": words}}
    return {
        "method": "sampling/createMessage",
        "params": {"messages": [message], "maxTokens": tokens},
    }


TEXT = {"type": "string"}
NAME = form("What is your name?", name=TEXT)
ROOTS = {"method": "roots/list", "params": {}}


def required(requests: Mapping[str, Any], state: str | None = None) -> Result:
    """The round in which the client is asked."""
    asked: dict[str, Any] = {"resultType": "input_required", "inputRequests": {**requests}}
    return asked if state is None else asked | {"requestState": state}


class Wants(Exception):
    """The round ends here: this is the result, and the client has to call again."""

    def __init__(self, result: Result) -> None:
        super().__init__("the client is asked")
        self.result = result


async def answers(
    asked: Asked, requests: Mapping[str, Mapping[str, Any]], state: str | None = None
) -> Mapping[str, Any]:
    """What the client replies: to requests of ours before 2026-07-28, to a result since.

    Raises `Wants` where it has to be asked by a result, and has not yet replied.
    """
    if asked.ctx.protocol_version < MODERN:
        return {key: await _back(asked, request) for key, request in requests.items()}
    if any(key not in asked.answers for key in requests):
        raise Wants(required(requests, state))
    if asked.params.request_state != state:
        raise MCPError(types.INVALID_PARAMS, "This is not the state that was given")
    return {key: _json(asked.answers[key]) for key in requests}


async def _back(asked: Asked, request: Mapping[str, Any]) -> Any:
    """Ask on the stream of the call: there may be no other yet."""
    kind, answer = KINDS[request["method"]]
    of_the_call = ServerMessageMetadata(related_request_id=asked.ctx.request_id)
    said = await asked.ctx.session.send_request(
        kind.model_validate(request), answer, metadata=of_the_call
    )
    return _json(said)


def _json(answer: Any) -> Any:
    """An answer as it came: the SDK has made some of them its own types."""
    is_typed = isinstance(answer, BaseModel)
    return answer.model_dump(by_alias=True, mode="json") if is_typed else answer


async def samples(asked: Asked) -> Result:
    said = await answers(asked, {"said": sample(asked.arguments["prompt"])})
    return text(f"LLM response: {json.dumps(said['said'])}")


def elicits(opening: str, question: Callable[[Asked], Mapping[str, Any]]) -> Asks:
    """A tool that puts a form to the user, and says what became of it."""

    async def run(asked: Asked) -> Result:
        said = (await answers(asked, {"form": question(asked)}))["form"]
        content = json.dumps(said.get("content"))
        return text(f"{opening}: action={said['action']}, content={content}")

    return run


def _contact(asked: Asked) -> Mapping[str, Any]:
    user = {"type": "string", "description": "User's response"}
    email = {"type": "string", "description": "User's email address"}
    return form(asked.arguments["message"], username=user, email=email)


def _defaults(asked: Asked) -> Mapping[str, Any]:
    states = ["active", "inactive", "pending"]
    return form(
        "Please check the defaults",
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": states, "default": "active"},
        verified={"type": "boolean", "default": True},
    )


def _choices(asked: Asked) -> Mapping[str, Any]:
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
    old = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option 1", "Option 2", "Option 3"]}
    return form(
        "Please choose",
        untitledSingle={"type": "string", "enum": plain},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={"type": "string", **old},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": plain}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )


def asks(answer: str, state: str | None = None, **requests: Mapping[str, Any]) -> Asks:
    """A tool that asks all this in one round, and then gives its answer with the answers in it."""

    async def run(asked: Asked) -> Result:
        return text(f"{answer} {json.dumps(await answers(asked, requests, state))}")

    return run


async def asks_twice(asked: Asked) -> Result:
    name = form("Step 1: What is your name?", name=TEXT)
    color = form("Step 2: What is your favorite color?", color=TEXT)
    if asked.params.request_state != "second":
        await answers(asked, {"step1": name}, "first")
        if asked.ctx.protocol_version >= MODERN:
            return required({"step2": color}, "second")
    await answers(asked, {"step2": color}, "second")
    return text("Both steps are done.")


async def asks_what_it_may(asked: Asked) -> Result:
    able = asked.ctx.session.client_capabilities or types.ClientCapabilities()
    may = {
        "user_name": (able.elicitation, NAME),
        "greeting": (able.sampling, sample("Generate a greeting")),
    }
    requests = {key: question for key, (declared, question) in may.items() if declared is not None}
    return text(f"What there was to ask: {json.dumps(await answers(asked, requests))}")


async def needs_sampling(asked: Asked) -> Result:
    able = asked.ctx.session.client_capabilities
    if able is None or able.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs sampling",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return text(json.dumps(await answers(asked, {"greeting": sample("Generate a greeting")})))


ONE_BY_ONE = {
    "elicitation": asks("Hello!", user_name=NAME),
    "sampling": asks("The answer:", capital_question=sample("What is the capital of France?")),
    "list_roots": asks("The roots:", client_roots=ROOTS),
    "request_state": asks("state-ok", "given", confirm=form("Sure?", ok={"type": "boolean"})),
    "tampered_state": asks("state-ok", "given", confirm=form("Sure?", ok={"type": "boolean"})),
    "multiple_inputs": asks(
        "All is there:",
        "given",
        user_name=NAME,
        greeting=sample("Generate a greeting", 50),
        client_roots=ROOTS,
    ),
    "multi_round": asks_twice,
    "capabilities": asks_what_it_may,
}

TOOLS: dict[str, Tool] = {
    "test_sampling": Tool(samples, ("prompt",)),
    "test_elicitation": Tool(elicits("User response", _contact), ("message",)),
    "test_elicitation_sep1034_defaults": Tool(elicits("Elicitation completed", _defaults)),
    "test_elicitation_sep1330_enums": Tool(elicits("Elicitation completed", _choices)),
    **{f"test_input_required_result_{name}": Tool(run) for name, run in ONE_BY_ONE.items()},
    "test_streaming_elicitation": Tool(asks("Hello!", user_name=NAME)),
    "test_missing_capability": Tool(needs_sampling),
}
