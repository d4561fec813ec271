"""Approval by interrupt: what the adapters of LangGraph and LangChain share.

    questions → on record → one interrupt each → replies → leave for what was shown

LangGraph runs an interrupted node again from its start, with the replies in the order of the
interrupts. So all questions are asked before anything is called, and they are recorded in the
checkpoint before the first is asked: a reply then belongs to what was shown, whatever has changed
since, and in whichever process the graph goes on. That there was nothing to ask is on record too.
A call that a person refused stays refused, also where the rules have stopped asking.
"""

from collections.abc import Callable, Generator, Sequence
from secrets import token_hex
from typing import Any, TypeAlias, TypeVar

from langgraph.func import task  # pyright: ignore[reportMissingTypeStubs]
from langgraph.types import interrupt

from toolcrib.execute import ApprovalRequest, Approver, DenyingApprover
from toolcrib.model import Json, JsonObject

T = TypeVar("T")

Replies: TypeAlias = Sequence[tuple[JsonObject, bool]]
"""Each question that was asked, and whether the reply to it was leave."""

ApprovalSteps: TypeAlias = Generator[Any, Any, Replies]
"""Yields what has to be on record first, is sent the record, and returns the replies."""


@task
def approval_questions(questions: Sequence[JsonObject]) -> Sequence[JsonObject]:
    """What is asked, as it was when it was first asked."""
    return questions


@task
def approval_spent(run: str) -> str:
    """The run of the node that the replies were spent on."""
    return run


def approval_steps(questions: Sequence[JsonObject]) -> ApprovalSteps:
    """The replies to all questions of a node: those on record, whatever would be asked now.

    Once the calls may have begun, leave is spent: a node that is run again after a failure has
    none. What was refused stays refused.
    """
    questions = yield approval_questions(questions)
    if not questions:
        return ()
    replies = [(question, _is_leave(interrupt(question))) for question in questions]
    this_run = token_hex(8)
    first_run = yield approval_spent(this_run)
    return [reply for reply in replies if first_run == this_run or not reply[1]]


def run_steps(steps: Generator[Any, Any, T], run: Callable[[Any], Any]) -> T:
    """What the steps return, for a node that is not async. `run` gives what each step wants."""
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send(run(wanted))
    except StopIteration as done:
        return done.value


async def run_steps_async(steps: Generator[Any, Any, T]) -> T:
    """What the steps return, for a node that is async: each step wants something to await."""
    try:
        wanted = next(steps)
        while True:
            wanted = steps.send(await wanted)
    except StopIteration as done:
        return done.value


def recorded_value(record: Any) -> Any:  # noqa: ANN401 - a record of LangGraph is of any type
    """The record that a node which is not async has asked for."""
    return record.result()


def question_of(id: str | None, request: ApprovalRequest) -> JsonObject:
    """What the person is shown, and by which a reply is held to what was shown."""
    return {
        "tool": request.name,
        "arguments": request.arguments,
        "permission_kind": request.permission_kind,
        "pin": request.pin,
        "description": request.description,
        "caller": request.caller,
        "tool_call_id": id,
    }


def _is_leave(reply: object) -> bool:
    match reply:
        case True | {"approved": True}:
            return True
        case _:
            return False


def approver_of(id: str | None, arguments: Json, replies: Replies) -> Approver:
    """Answers from the replies: leave for the call that was shown, and for no other."""
    asked_before = (id, arguments)
    if any(not leave and _call_in(question) == asked_before for question, leave in replies):
        return DenyingApprover()

    async def reply_to(request: ApprovalRequest) -> bool:
        asked = question_of(id, request)
        said = [leave for question, leave in replies if question == asked]
        if not said:
            raise LookupError("nobody was asked about this call, or its approval was used already")
        return all(said)

    return reply_to


def _call_in(question: JsonObject) -> tuple[Json, Json]:
    """The call that a question is about, however its tool is defined or judged by now."""
    return question["tool_call_id"], question["arguments"]


def shown_pin(id: str | None, replies: Replies) -> str:
    """The definition that the person saw; empty where nobody was asked."""
    pins = (str(question["pin"]) for question, _ in replies if question["tool_call_id"] == id)
    return next(pins, "")
