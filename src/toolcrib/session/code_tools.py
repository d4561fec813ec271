"""The tools of code mode: a search that answers with typed functions, and a run of a program.

    tool_search ──▶ signatures, by server ──▶ tool_run ──▶ printed text, last value, calls

Sessions and the gateway have the same two. They stand in place of all others: what a program calls
is named in the program, so nothing is listed or revealed for it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from toolcrib.execute import CallRefused
from toolcrib.model import ASKS, CALLABLE_STATES, Answer, Hit, Json, JsonObject, Outcome, ToolInfo
from toolcrib.session.reveals import leading_names
from toolcrib.session.search_result import (
    MORE,
    READ,
    SearchResult,
    hit_line,
    how_sure,
    query_line,
    way_on,
)
from toolcrib.session.search_tool import RUN_TOOL_NAME, SEARCH_TOOL_NAME, define_search_tool
from toolcrib.strict_json import NotJson, read_json
from toolcrib.text import most_tokens

if TYPE_CHECKING:
    from toolcrib.program import ProgramCall, ToolSignature

_PROGRAM_KEYS = ("program", "code", "script")
_FENCED = re.compile(r"\A\s*```[A-Za-z0-9]*\n(.*?)\n?```\s*\Z", re.DOTALL)

CODE_SEARCH_TOOL: Final = define_search_tool(
    f", as typed Python functions for `{RUN_TOOL_NAME}`. Search before you say that something"
    " cannot be done.",
    "A skill or an agent is not called: `read` gives its text.",
    queries="What you need, in any language. None shows what there is.",
    narrows=False,
    read={
        "type": "string",
        "description": "A skill or agent by name; `name/path` is a file of a skill.",
    },
)

RUN_TOOL: Final = ToolInfo(
    name=RUN_TOOL_NAME,
    description=(
        "Run a short Python program that calls tools by the signatures that a search gave:"
        ' `await github.create_issue(title="x")`, arguments by name. Do several calls in one'
        " program; `asyncio.gather` makes them side by side. What it prints and its last expression"
        " come back, nothing else: filter results in the program. There is no `return`, no file and"
        " no network. A failed call raises RuntimeError. Types are checked first: an error has the"
        " lines and the right signatures, and nothing was called. If a person has to approve a"
        " call, the answer has a `handle`: give that instead of a program to go on."
    ),
    permission_kind="write",
    searchable=False,
    defer="never",
    required=True,
    pin=RUN_TOOL_NAME,
    parameters={
        "type": "object",
        "properties": {
            "program": {"type": "string", "description": "Python, without a fence."},
            "handle": {"type": "string", "description": "Of a program that waits."},
        },
        "additionalProperties": False,
    },
)
"""The same for every session and every principal, as the search tool."""

CODE_TOOLS: Final = (CODE_SEARCH_TOOL, RUN_TOOL)
"""The tools of a session in code mode, beside those that are never deferred."""

_ONE_OF_TWO = "a run needs a `program`, or the `handle` of one that waits, and not both"


class RunRequest(NamedTuple):
    """What a model asks `tool_run` for: to run a program, or to go on with one. One is empty."""

    program: str
    handle: str

    @classmethod
    def of(cls, arguments: JsonObject) -> "RunRequest":
        """The request of arguments that fit the schema. Raises `CallRefused` for both or none."""
        program, handle = (cast("str", arguments.get(key) or "") for key in ("program", "handle"))
        if bool(program) == bool(handle):
            schema = RUN_TOOL.parameters
            raise CallRefused("bad_arguments", "arguments", _ONE_OF_TWO, schema=schema)
        return cls(program, handle)


def read_run(given: JsonObject) -> JsonObject:
    """The arguments of a run, with the usual slips put right: another key, a fence around it."""
    rest: dict[str, Json] = {key: each for key, each in given.items() if key not in _PROGRAM_KEYS}
    program = next((given[key] for key in _PROGRAM_KEYS if key in given), None)
    if isinstance(program, str) and (fenced := _FENCED.match(program)):
        program = fenced[1]
    return rest if program is None else {**rest, "program": program}


def read_run_request(
    arguments: JsonObject | str, check: Callable[[ToolInfo, JsonObject | str], JsonObject]
) -> RunRequest:
    """What the arguments of a run ask for; `check` is as `Host` has it. Raises `CallRefused`."""
    given = arguments
    if isinstance(arguments, str):
        with suppress(NotJson):
            given = cast("JsonObject | str", read_json(arguments))
    return RunRequest.of(check(RUN_TOOL, read_run(given) if isinstance(given, Mapping) else given))


def only_in_programs(tool: ToolInfo, signatures: "Mapping[str, ToolSignature]") -> CallRefused:
    """The refusal of a tool that programs alone call, with the function that it is."""
    found = signatures.get(tool.name)
    how = f" as {found.line}" if found else ""
    message = (
        f"{tool.name!r} is called in programs: give `{RUN_TOOL_NAME}` one that calls it{how}."
        f" `{SEARCH_TOOL_NAME}` with 'select:{tool.name}' tells more"
    )
    return CallRefused("not_revealed", "state", message)


def calls_text(calls: "Sequence[ProgramCall]") -> str:
    """Each tool with what became of its calls, in the order in which they came first."""
    counts = Counter((call.tool, call.effect, call.code) for call in calls)
    told = [
        f"{tool} {effect}{f' ({code})' if code else ''}{f' x{count}' if count > 1 else ''}"
        for (tool, effect, code), count in counts.items()
    ]
    return f"[calls: {', '.join(told)}]"


def functions_found(
    found: SearchResult,
    signatures_of: "Callable[[Iterable[str]], Mapping[str, ToolSignature]]",
    budget: int,
) -> Outcome:
    """What the search tool of a session answers in code mode: see `stub_text`."""
    signatures = signatures_of([hit.name for hit in found.hits])
    paths: list[Json] = [each.path for each in signatures.values()]
    missing = found.unavailable()
    return Outcome(
        content=stub_text(found, signatures, budget),
        structured={"functions": paths, **({"unavailable": missing} if missing else {})},
    )


def stub_text(
    found: SearchResult, signatures: "Mapping[str, ToolSignature]", budget: int = 1_500
) -> str:
    """What a search found, for a model that writes programs: typed functions, by their servers.

    `signatures` are those of the hits that it may call, by name. The best hit of each query, and
    what is selected by name, is told whole; the others in brief. What does not fit into the budget
    of tokens is shown by its signature alone.
    """
    shown: list[str] = []
    for choices in _lines(found, signatures):
        fits = (each for each in choices if most_tokens("\n".join([*shown, each, MORE])) <= budget)
        line = next(fits, None)
        if line is None:
            return "\n".join([*shown, MORE])
        shown.append(line)
    return "\n".join(shown)


def _lines(
    found: SearchResult, signatures: "Mapping[str, ToolSignature]"
) -> Iterator[tuple[str, ...]]:
    """Each line, with what may stand for it where it does not fit. A hit is told once."""
    listed, said = set[str](), set[str]()
    leading = leading_names(found.answers)
    for answer in found.answers:
        new = [hit for hit in answer if hit.name not in listed]
        listed |= {hit.name for hit in new}
        usable = [hit for hit in new if hit.name in signatures and hit.state in CALLABLE_STATES]
        others = [hit_line(hit, None, READ) for hit in new if hit not in usable]
        yield from ((line,) for line in _heading(answer, among=len(found.answers)))
        for group in dict.fromkeys(signatures[hit.name].group for hit in usable):
            yield (f"# {group}",)
            of_group = [hit for hit in usable if signatures[hit.name].group == group]
            for hit in of_group:
                yield _stub(hit, signatures[hit.name], whole=hit.name in leading)
        yield from ((line,) for line in [*others, *way_on(answer, said)])


def _heading(answer: Answer, *, among: int) -> list[str]:
    return [*([query_line(answer)] if among > 1 else []), *how_sure(answer)]


def _stub(hit: Hit, signature: "ToolSignature", *, whole: bool) -> tuple[str, ...]:
    """A hit as a function, with what it can do beside reading; and what may stand for it."""
    facts = [each for each in (hit.permission_kind, ASKS * hit.asks) if each not in ("read", "")]
    kind = f"# [{', '.join(facts)}]\n" if facts else ""
    shorter = signature.brief, f"{signature.line}: ..."
    return tuple(f"{kind}{text}" for text in ([signature.text] if whole else []) + [*shorter])
