"""Whether a program can be run: what it may call, and what the type checker says of it.

    program → words → tools of its caller → signatures → type check → `ProgramCheck`

Nothing of the program has run when the verdict is there. What the type checker cannot know for sure
is no problem: the door checks the arguments of each call.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from toolcrib.execute import CallRefused, check_state
from toolcrib.model import Json, JsonObject, ToolInfo
from toolcrib.pool import RECIPE_CHANGED
from toolcrib.program.outcome import ProgramCheck, ProgramProblem, ProgramTool
from toolcrib.program.recipe import Recipe, is_recipe
from toolcrib.program.sandbox import Diagnostic, Failed, ProgramProcess, Rejected
from toolcrib.program.signatures import ToolSignature
from toolcrib.program.tool_table import Mentioned, ToolTable
from toolcrib.text import nearest_names, printable

MOST_PROGRAM = 64 * 1024
MOST_PROBLEMS = 10
MOST_SIGNATURES = 5
MOST_NEAREST = 5
MOST_GROUPS = 20
LONGEST_MESSAGE = 500
_NO_RECIPES = "a recipe calls no other recipe: write the lines of that one here"

_METHOD = re.compile(r"`_(\w+)\.(\w+)`")
_GROUP = re.compile(r"Object of type `_(\w+)`")
_DOTTED = re.compile(r"(\w+)\s*\.\s*(\w+)\s*\Z")
_NAME = re.compile(r"Name `(\w+)`")
_DOUBTFUL = re.compile(
    r"Expected `[^`]+`, found `(?:list\[)?(?:str|dict\[str, [^`]*\])\]?`"
    r"|function `print` (?!.*found `CoroutineType)"
)
"""A text where one of a few is wanted, a mapping where certain keys are: it may well fit. So does
whatever is printed, but for a call that nobody waits for."""

_REMEDIES = (
    ("unused-awaitable", "write `await` before it"),
    ("CoroutineType", "write `await` before the call"),
    ("invalid-syntax: `return`", "end with the value itself, as the last line"),
    ("unresolved-import", "there is no such module here; call tools instead"),
)


class ProgramReading(NamedTuple):
    """A program, and what its words mean to its caller.

    `inputs` are variables that it has from the beginning; `stubs` says their types.
    """

    program: str
    table: ToolTable
    mentioned: Mentioned
    inputs: Mapping[str, Json] = {}
    stubs: str = ""


def read_program(program: str, table: ToolTable) -> ProgramReading:
    """What a program may call; nothing of it is run, or read as code."""
    return ProgramReading(program, table, table.mentioned(program[:MOST_PROGRAM]))


def recipe_reading(recipe: Recipe, arguments: JsonObject, table: ToolTable) -> ProgramReading:
    """A recipe with its inputs, and its tools as this caller has them. Raises `CallRefused`.

    Each is the one that the recipe was saved with, under the same function.
    """
    found = [table.signature_of(each.name) for each in recipe.tools]
    for each, signature in zip(recipe.tools, found, strict=True):
        entry = table.groups.entries.get(each.name)
        if entry is None or entry.pin != each.pin or (signature and signature.path != each.path):
            todo = RECIPE_CHANGED.format(recipe.name)
            raise CallRefused("changed", "state", f"{recipe.name!r} cannot be called now: {todo}")
        if signature is None:
            message = f"this caller may not call all that {recipe.name!r} calls; ask the operator"
            raise CallRefused("not_allowed", "rights", message)
        check_state(entry, each.pin)
    tools = tuple(filter(None, found))
    groups = tuple(dict.fromkeys(each.group for each in tools))
    values = recipe.values(arguments)
    stubs = _input_stubs(recipe.info)
    return ProgramReading(recipe.program, table, Mentioned(groups, tools, {}), values, stubs)


def for_recipe(reading: ProgramReading, parameters: JsonObject) -> ProgramReading:
    """A program as that of a recipe: with inputs, and without other recipes."""
    mentioned = reading.mentioned
    tools = tuple(each for each in mentioned.tools if not is_recipe(each.tool))
    recipes = {each.path: _NO_RECIPES for each in mentioned.tools if is_recipe(each.tool)}
    stubs = _input_stubs(ToolInfo(name="recipe", description="", parameters=parameters))
    fewer = Mentioned(mentioned.groups, tools, {**mentioned.refused, **recipes})
    return reading._replace(mentioned=fewer, stubs=stubs)


def check_program(
    reading: ProgramReading, process: ProgramProcess, asks: Callable[[str], bool]
) -> ProgramCheck:
    """The verdict on a program. If it is ok, `process` can start it.

    `asks` says whether a person is asked before calls of a tool.
    """
    tools = tuple(
        ProgramTool(each.tool.name, each.path, each.tool.permission_kind, asks(each.tool.name))
        for each in reading.mentioned.tools
    )
    if len(reading.program) > MOST_PROGRAM:
        most = f"it has {len(reading.program):,} characters; {MOST_PROGRAM:,} is the most"
        return ProgramCheck(problems=(ProgramProblem(0, most),))
    groups, inputs = reading.mentioned.groups, reading.inputs
    step = process.check(reading.program, groups, inputs)
    if isinstance(step, Rejected):
        sure = [each for each in step.diagnostics if not _is_doubtful(each)]
        if sure:
            return _rejected(tools, reading, sure)
        step = process.check(reading.program, groups, inputs, checked=True)
    if isinstance(step, Failed):
        problem = ProgramProblem(step.line, printable(step.message[:LONGEST_MESSAGE]))
        return ProgramCheck(tools, (problem,))
    return ProgramCheck(tools)


def _input_stubs(tool: ToolInfo) -> str:
    """The parameters of a tool as variables with types: the inputs of a recipe."""
    parameters = ToolSignature("", "", tool).parameters
    return "".join(f"{each.name}: {each.type}\n" for each in parameters if each.key)


def _is_doubtful(each: Diagnostic) -> bool:
    return each.code == "invalid-argument-type" and bool(_DOUBTFUL.search(each.message))


def _rejected(
    tools: tuple[ProgramTool, ...], reading: ProgramReading, found: Sequence[Diagnostic]
) -> ProgramCheck:
    first = found[:MOST_PROBLEMS]
    problems = tuple(ProgramProblem(each.line, _explained(each, reading)) for each in first)
    by_path = {each.path: each for each in reading.mentioned.tools}
    paths = [".".join(pair) for each in first for pair in _METHOD.findall(each.message)]
    named = [by_path[path].line for path in dict.fromkeys(paths) if path in by_path]
    return ProgramCheck(tools, problems, tuple(named[:MOST_SIGNATURES]))


def _explained(each: Diagnostic, reading: ProgramReading) -> str:
    """What is wrong, and what to write instead."""
    message = _GROUP.sub(r"`\1`", _METHOD.sub(r"`\1.\2`", each.message))
    message = printable(message[:LONGEST_MESSAGE])
    remedy = _remedy(each, reading)
    return f"{message}; {remedy}" if remedy else message


def _remedy(each: Diagnostic, reading: ProgramReading) -> str:
    if each.code == "unresolved-attribute":
        return _about_attribute(_slice(reading.program, each), reading)
    if each.code == "unresolved-reference":
        return _about_name(each.message, reading.table)
    fits = (remedy for sign, remedy in _REMEDIES if sign in f"{each.code}: {each.message}")
    return next(fits, "")


def _about_attribute(expression: str, reading: ProgramReading) -> str:
    """Why a group has no such function, or which are the nearest."""
    found = _DOTTED.search(expression)
    if found is None:
        return ""
    group, function = found.groups()
    if reason := reading.mentioned.refused.get(f"{group}.{function}"):
        return reason
    functions = reading.table.functions_of(group)
    near = nearest_names(function, functions) or functions[:MOST_NEAREST]
    return f"it has {', '.join(near)}" if near else ""


def _about_name(message: str, table: ToolTable) -> str:
    """Where a name is to be found; else the nearest groups, or all."""
    found = _NAME.search(message)
    if found is None:
        return ""
    if paths := table.paths_of(found[1]):
        return f"write {' or '.join(paths[:3])}"
    groups = table.group_names()
    if near := nearest_names(found[1], groups):
        return f"the nearest groups of tools: {', '.join(near)}"
    more = f" and {len(groups) - MOST_GROUPS} more" if len(groups) > MOST_GROUPS else ""
    there_are = f"the groups of tools: {', '.join(groups[:MOST_GROUPS])}{more}"
    return there_are if groups else "there are no tools that this caller can call"


def _slice(program: str, each: Diagnostic) -> str:
    """The text that a diagnostic is about."""
    lines = program.splitlines()[each.line - 1 : each.end_line]
    if not lines:
        return ""
    lines[-1] = lines[-1][: each.end_column - 1]
    lines[0] = lines[0][each.column - 1 :]
    return "\n".join(lines)
