"""Approval by interrupt: what the adapters of LangGraph and LangChain share.

    questions → on record → one interrupt each → replies → approval of what was shown

LangGraph runs an interrupted node again from its start, with the replies in the order of the
interrupts. So all questions are asked before anything is called, and they are recorded in the
checkpoint before the first is asked. A reply then belongs to what the person saw, whatever has
changed since, and in whichever process the graph goes on. A node without questions is recorded too.
A call that a person refused stays refused, even if the rules do not ask any more.
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
"""Each question that was asked, and whether the reply approved it."""

ApprovalSteps: TypeAlias = Generator[Any, Any, Replies]
"""Yields what has to be recorded, is sent the record, and returns the replies."""


@task
def approval_questions(questions: Sequence[JsonObject]) -> Sequence[JsonObject]:
    """What is asked, as it was when it was first asked."""
    return questions


@task
def approval_spent(run: str) -> str:
    """The run of the node that used the replies."""
    return run


def approval_steps(questions: Sequence[JsonObject]) -> ApprovalSteps:
    """The replies to all questions of a node: those on record, whatever would be asked now.

    An approval is good for one run of the calls: a node that is run again after a failure has
    none. What was refused stays refused.
    """
    questions = yield approval_questions(questions)
    if not questions:
        return ()
    replies = [(question, _is_approval(interrupt(question))) for question in questions]
    this_run = token_hex(8)
    first_run = yield approval_spent(this_run)
    return [reply for reply in replies if first_run == this_run or not reply[1]]


def run_steps(steps: Generator[Any, Any, T], run: Callable[[Any], Any]) -> T:
    """What the steps return, in a node that is not async. `run` gives what each step yields for."""
    try:
        step = next(steps)
        while True:
            step = steps.send(run(step))
    except StopIteration as done:
        return done.value


async def run_steps_async(steps: Generator[Any, Any, T]) -> T:
    """What the steps return, in an async node, where each step yields something to await."""
    try:
        step = next(steps)
        while True:
            step = steps.send(await step)
    except StopIteration as done:
        return done.value


def recorded_value(record: Any) -> Any:  # noqa: ANN401 - a record of LangGraph is of any type
    """The record of a task of LangGraph, in a node that is not async."""
    return record.result()


def question_of(id: str | None, request: ApprovalRequest) -> JsonObject:
    """What the person is shown. A reply counts for exactly this question."""
    return {
        "tool": request.name,
        "arguments": request.arguments,
        "permission_kind": request.permission_kind,
        "pin": request.pin,
        "description": request.description,
        "caller": request.caller,
        "tool_call_id": id,
    }


def _is_approval(reply: object) -> bool:
    match reply:
        case True | {"approved": True}:
            return True
        case _:
            return False


def approver_of(id: str | None, arguments: Json, replies: Replies) -> Approver:
    """Answers from the replies: approves the call that was shown, and no other."""
    asked_before = (id, arguments)
    if any(not approved and _call_in(question) == asked_before for question, approved in replies):
        return DenyingApprover()

    async def reply_to(request: ApprovalRequest) -> bool:
        question_now = question_of(id, request)
        answers = [approved for question, approved in replies if question == question_now]
        if not answers:
            raise LookupError("nobody was asked about this call, or its approval was used already")
        return all(answers)

    return reply_to


def _call_in(question: JsonObject) -> tuple[Json, Json]:
    """The call that a question is about, whatever became of its tool since."""
    return question["tool_call_id"], question["arguments"]


def shown_pin(id: str | None, replies: Replies) -> str:
    """The definition that the person saw; empty where nobody was asked."""
    pins = (str(question["pin"]) for question, _ in replies if question["tool_call_id"] == id)
    return next(pins, "")
