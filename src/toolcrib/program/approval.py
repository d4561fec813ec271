"""One question for a whole program: what a person is told of it, and which calls the answer covers.

Which tools a program may call is known from the type check, and how often from how often their
functions are written in it. So a call in a loop is covered as often as it is written, and asked for
by itself from then on.
"""

import re
from collections.abc import Collection
from typing import get_args

from toolcrib.execute import ApprovalRequest, Caller, Cover, CoveredTool
from toolcrib.model import Json, PermissionKind
from toolcrib.program.check import ProgramReading
from toolcrib.program.outcome import ProgramCheck, ProgramTool
from toolcrib.strict_json import json_digest

NAME = "tool_run"
"""What is asked about. No tool of a source has this name."""
PIN = "program:"
"""How the pin of a program begins. That of no tool does."""


def cover_of(
    reading: ProgramReading,
    check: ProgramCheck,
    caller: Caller,
    kinds: Collection[PermissionKind],
) -> Cover | None:
    """The question about all calls of these kinds that need approval; None for less than two.

    One call alone is asked about by itself, with its arguments.
    """
    pins = {each.tool.name: each.tool.pin for each in reading.mentioned.tools}
    covered = tuple(
        CoveredTool(each.name, pins[each.name], each.permission_kind, _written(each, reading))
        for each in check.tools
        if each.asks and each.permission_kind in kinds
    )
    if sum(each.most for each in covered) > 1:
        return Cover(_request(reading.program, check, covered, caller), covered)
    return None


def _request(
    program: str, check: ProgramCheck, covered: tuple[CoveredTool, ...], caller: Caller
) -> ApprovalRequest:
    most = {each.name: each.most for each in covered}
    told: list[Json] = [_line(each, most.get(each.name, 0)) for each in check.tools]
    order: tuple[PermissionKind, ...] = get_args(PermissionKind)
    kinds: list[PermissionKind] = [each.kind for each in covered]
    pin = f"{PIN}{json_digest([program, [list(each) for each in covered]])}"
    arguments: Json = {"may_call": told, "program": list[Json](program.splitlines())}
    names = ", ".join(f"{each.name} {_times(each.most)}" for each in covered)
    about = f"Run a program. One answer covers these calls of it: {names}."
    return ApprovalRequest(caller.id, NAME, about, max(kinds, key=order.index), arguments, pin)


def _line(tool: ProgramTool, most: int) -> str:
    if most:
        return f"{tool.name} {_times(most)} ({tool.permission_kind})"
    how = "asked for each time" if tool.asks else "allowed by the rules"
    return f"{tool.name} ({tool.permission_kind}): {how}"


def _times(most: int) -> str:
    return {1: "once", 2: "twice"}.get(most, f"{most} times")


def _written(tool: ProgramTool, reading: ProgramReading) -> int:
    """How often the function is written in the program: at least once, for it is mentioned."""
    group, _, function = tool.path.partition(".")
    path = rf"\b{re.escape(group)}\s*\.\s*{re.escape(function)}\b"
    return max(1, len(re.findall(path, reading.program)))
