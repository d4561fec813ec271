"""One call of a Python function: it runs by its deadline, and what it returns becomes JSON.

Whoever lists functions needs none of this: it is loaded by the first call.
"""

import asyncio
import inspect
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from inspect import Parameter
from operator import attrgetter

from pydantic import TypeAdapter

from toolcrib.errors import BadArguments
from toolcrib.model import CallContext, CallError, Json, Outcome
from toolcrib.sources.signature import injection
from toolcrib.system import deadline_passed, run_in_thread

_ANYTHING = TypeAdapter(object)
_FILL: ContextVar[Callable[[Parameter], object]] = ContextVar(
    "toolcrib_fill", default=attrgetter("default")
)


@contextmanager
def injecting(fill: Callable[[Parameter], object]) -> Generator[None]:
    """Have the injected parameters of functions filled in so, in this context, as long as it lasts.

    `fill` gives the default of a parameter that it has no value for.
    """
    token = _FILL.set(fill)
    try:
        yield
    finally:
        _FILL.reset(token)


def injecting_context(context: object) -> AbstractContextManager[None]:
    """The same for the context of a framework's run, in each parameter of its type."""

    def fill(one: Parameter) -> object:
        return context if isinstance(context, injection(one.annotation) or ()) else one.default

    return injecting(fill)


def injected_values(name: str, parameters: Mapping[str, Parameter]) -> Mapping[str, object]:
    """What the framework fills in. Raises `BadArguments` where it fills in nothing."""
    values = {key: _FILL.get()(parameter) for key, parameter in parameters.items()}
    if missing := [key for key, value in values.items() if value is Parameter.empty]:
        remedy = "call it by Toolcrib's adapter of that framework, with these in its context"
        raise BadArguments(f"{name}: a framework fills in {', '.join(missing)}; {remedy}")
    return values


async def run_function(run: Callable[[], object], context: CallContext) -> Outcome:
    """Run it: on the loop if it is async, else in a thread, so that it may wait.

    A thread cannot be stopped. At the deadline, and on cancelling, the waiting ends.
    """
    limit = asyncio.timeout(context.deadline.left_s)
    try:
        async with limit:
            result = await _result(run)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is its outcome
        return Outcome(
            error=deadline_passed(context.deadline)
            if limit.expired()
            else _failure("tool_failed", _error_text(error))
        )
    try:
        return Outcome(_as_json(result))
    except ValueError as error:
        message = f"the tool ran, but its result cannot be written as JSON: {_error_text(error)}"
        return Outcome(error=_failure("bad_result", message))


async def _result(run: Callable[[], object]) -> object:
    if inspect.iscoroutinefunction(run):
        return await run()
    result = await run_in_thread(run)
    return await result if inspect.isawaitable(result) else result


def _failure(code: str, message: str) -> CallError:
    return CallError(code, "call", message, effect="failed")


def _as_json(result: object) -> Json:
    """Through text and back: what comes out is JSON and nothing else; NaN and infinity are null."""
    return json.loads(_ANYTHING.dump_json(result))


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
