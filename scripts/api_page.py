"""docs/api.md: every promised name, from its docstring and its source.

The source is read and not run. So a type has the name that its author gave it (`JsonObject`), and
no package of a provider has to be installed.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from scripts.api_examples import examples

Definition = ast.FunctionDef | ast.AsyncFunctionDef
WIDTH = 88
SOURCE = Path(__file__).parents[1] / "src"

TOPICS: Mapping[str, str] = {
    "The crib": "Crib Operator CribIndex Settings load_settings ToolcribError",
    "What it holds": """
        tool ToolFacts Capability ToolInfo SkillInfo AgentInfo Entry Source ServerEntry
        RefreshResult ToolsUpdated Offers OfferedItem
    """,
    "Search": "Answer Hit UnavailableServer Explanation Wording Embedder UseHints",
    "Calls": """
        Caller EventOrigin Scope Outcome CallError Page Call CallContext Deadline InputRequest
        Approver ApprovalRequest Tickets Ticket per_request_tools
    """,
    "Programs": """
        ProgramOutcome ProgramCall ProgramCheck ProgramProblem ProgramTool ProgramLimits
    """,
    "Sessions": """
        Session SearchResult Prefetch PrefetchedNeed UserMessage TokenEstimate SourceTokens
        revealed_in
    """,
}
"""The names of `toolcrib`, in the order in which one meets them."""

PLACES = {
    "toolcrib.app": "For programs that register their own tools; see [apps](guide/apps.md).",
    "toolcrib.testing": "For tests of agents without a model; see [testing](guide/testing.md).",
    "toolcrib.errors": "Everything that Toolcrib raises on purpose; see [errors](errors.md).",
    "toolcrib.adapters.anthropic": "See [Anthropic](guide/anthropic.md).",
    "toolcrib.adapters.openai_responses": "See [OpenAI](guide/openai.md).",
    "toolcrib.adapters.openai_chat": "See [OpenAI](guide/openai.md).",
    "toolcrib.adapters.gemini": "See [Gemini](guide/gemini.md).",
    "toolcrib.adapters.auto": "See [providers](guide/providers.md).",
    "toolcrib.adapters.langchain": "See [frameworks](guide/frameworks.md).",
    "toolcrib.adapters.langgraph": "See [LangGraph](guide/langgraph.md).",
    "toolcrib.adapters.pydantic_ai": "See [frameworks](guide/frameworks.md).",
    "toolcrib.adapters.openai_agents": "See [frameworks](guide/frameworks.md).",
}

INTRODUCTION = """\
# The API

Written by `scripts/write_docs.py`; the words are those of the docstrings.

What stands here is promised: it changes only with a line in the [changelog](../CHANGELOG.md).
Anything else may move tomorrow. Import names from `toolcrib`, or from the module that a heading
names:

```python
from toolcrib import Crib, Settings, tool
from toolcrib.errors import ToolcribError
```

The sections of `Settings`, such as `SearchSettings`, are in `toolcrib.settings`;
[settings](settings.md) has every key. You need not import them: `Settings(search={"limit": 3})`.
The last table says what aliases such as `JsonObject` stand for. The examples are out of the guides
and of [examples](../examples), where the tests run them.
"""


def api_page() -> str:
    """Every promised name: those of `toolcrib` by topic, then those of other modules."""
    topics = [_topic(title, names) for title, names in TOPICS.items()]
    places = [_place(module, words) for module, words in PLACES.items()]
    page = "\n".join([INTRODUCTION, *topics, *places])
    return f"{page}\n{_aliases(page)}"


def _topic(title: str, names: str) -> str:
    entries = (_entry("toolcrib", name) for name in names.split())
    return "\n".join([f"## {title}", "", *entries])


def _place(module: str, words: str) -> str:
    entries = (_entry(module, name) for name in promised(module))
    return "\n".join([f"## {module}", "", words, "", *entries])


def _aliases(page: str) -> str:
    """What the names in signatures stand for that are no classes."""
    spoken = (each for each in sorted(_model_aliases()) if re.search(rf"\b{each[0]}\b", page))
    rows = [f"| `{name}` | `{meaning}` |" for name, meaning in spoken]
    return "\n".join(["## Aliases in signatures", "", "| name | is |", "|---|---|", *rows, ""])


def _model_aliases() -> Iterator[tuple[str, str]]:
    for module in ("capability", "search", "call"):
        for each in _body(f"toolcrib.model.{module}"):
            match each:
                case ast.Assign([ast.Name(name)], ast.Subscript() as value):
                    yield name, _escaped(value)
                case ast.AnnAssign(ast.Name(name), ast.Name("TypeAlias"), value) if value:
                    yield name, _escaped(value)
                case _:
                    pass


def _escaped(value: ast.expr) -> str:
    """An annotation for the cell of a table, without the quotes of a forward reference."""
    return ast.unparse(value).strip("'").replace("|", "\\|")


def _entry(module: str, name: str) -> str:
    match definition(module, name):
        case ast.ClassDef() as parsed:
            lines = [*_text(parsed), *_class(parsed)]
        case ast.FunctionDef() | ast.AsyncFunctionDef() as parsed:
            lines = [*_code([_signature(parsed, name)]), *_text(parsed), *_example(name)]
        case parsed:
            lines = _code([ast.unparse(parsed)])
    return "\n".join([f"### {name}", "", *lines])


def promised(module: str) -> list[str]:
    """The names in `__all__` of a module."""
    for each in _body(module):
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__":
            return ast.literal_eval(each.value)
    raise LookupError(f"{module} has no __all__")


def definition(module: str, name: str) -> ast.stmt:
    """Where a name is defined, by way of the doors that lead there."""
    for each in _body(module):
        match each:
            case ast.ClassDef(own) | ast.FunctionDef(own) | ast.AsyncFunctionDef(own):
                found = own == name
            case ast.Assign([ast.Name(own)]) | ast.AnnAssign(ast.Name(own)):
                found = own == name
            case ast.ImportFrom(str() as home, names):
                if name in [alias.name for alias in names]:
                    return definition(home, name)
                found = False
            case _:
                found = False
        if found:
            return each
    raise LookupError(f"{module} has no {name}")


def _body(module: str) -> Iterator[ast.stmt]:
    """The statements of a module, with those that only a type checker reads."""
    place = SOURCE.joinpath(*module.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    for each in ast.parse(path.read_text(encoding="utf-8")).body:
        yield from each.body if isinstance(each, ast.If) else [each]


def _class(parsed: ast.ClassDef) -> Iterator[str]:
    is_settings = "Section" in map(ast.unparse, parsed.bases)
    fields = [] if is_settings else [*_constructor(parsed), *_fields(parsed)]
    yield from _code(fields) if fields else ()
    yield from _bases(parsed)
    yield from _example(parsed.name)
    for member in parsed.body:
        if isinstance(member, Definition) and _is_shown(member):
            yield from _member(parsed.name, member)


def _bases(parsed: ast.ClassDef) -> Iterator[str]:
    """Which class of the adapters has more of its members."""
    for base in map(ast.unparse, parsed.bases):
        if base in promised("toolcrib.adapters.auto"):
            yield from (f"It has the members of [{base}](#{base.lower()}), too.", "")


def _constructor(parsed: ast.ClassDef) -> Iterator[str]:
    """How one is made, unless the docstring says by whom it is."""
    is_made_here = "made by `" in (ast.get_docstring(parsed) or "").lower()
    for member in parsed.body:
        if isinstance(member, Definition) and member.name == "__init__" and not is_made_here:
            yield _signature(member, parsed.name)


def _fields(parsed: ast.ClassDef) -> Iterator[str]:
    for member in parsed.body:
        if isinstance(member, ast.AnnAssign) and not ast.unparse(member.target).startswith("_"):
            yield _field(member)


def _field(member: ast.AnnAssign) -> str:
    """A field with its default; one that is made anew each time is shown as `...`."""
    default = "" if member.value is None else f" = {ast.unparse(member.value)}"
    default = " = ..." if "default_factory" in default else default
    return f"{ast.unparse(member.target)}: {ast.unparse(member.annotation)}{default}"


def _is_shown(member: Definition) -> bool:
    is_overload = "overload" in map(ast.unparse, member.decorator_list)
    return not is_overload and (member.name == "__call__" or not member.name.startswith("_"))


def _member(owner: str, member: Definition) -> Iterator[str]:
    yield from (f"#### {owner}.{member.name}", "")
    decorators = set(map(ast.unparse, member.decorator_list))
    if decorators & {"property", "cached_property"}:
        returned = f": {ast.unparse(member.returns)}" if member.returns else ""
        yield from _code([f"{member.name}{returned}"])
    else:
        yield from _code([_signature(member, member.name)])
    yield from _text(member)
    yield from _example(f"{owner}.{member.name}")


def _signature(parsed: Definition, name: str) -> str:
    """As one writes the call: without `self`, and over several lines where it is long."""
    parameters = [each for each in _parameters(parsed.args) if each not in ("self", "cls")]
    is_made = parsed.name == "__init__" or parsed.returns is None
    returned = "" if is_made else f" -> {ast.unparse(parsed.returns or ast.Constant(None))}"
    prefix = "await " if isinstance(parsed, ast.AsyncFunctionDef) else ""
    line = f"{prefix}{name}({', '.join(parameters)}){returned}"
    if len(line) <= WIDTH:
        return line
    lines = "".join(f"    {each},\n" for each in parameters)
    return f"{prefix}{name}(\n{lines}){returned}"


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    for number, pair in enumerate(zip(positional, [*missing, *arguments.defaults], strict=True)):
        yield _parameter(*pair)
        if arguments.posonlyargs and number == len(arguments.posonlyargs) - 1:
            yield "/"
    if arguments.vararg:
        yield f"*{_parameter(arguments.vararg)}"
    elif arguments.kwonlyargs:
        yield "*"
    yield from map(_parameter, arguments.kwonlyargs, arguments.kw_defaults)
    if arguments.kwarg:
        yield f"**{_parameter(arguments.kwarg)}"


def _parameter(argument: ast.arg, default: ast.expr | None = None) -> str:
    annotation = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
    return f"{argument.arg}{annotation}" + (f" = {ast.unparse(default)}" if default else "")


def _text(parsed: Definition | ast.ClassDef) -> list[str]:
    text = ast.get_docstring(parsed)
    return [text, ""] if text else []


def _example(name: str) -> list[str]:
    """How a page or a program that the tests run uses it, with a link there."""
    example = examples().get(name)
    if example is None:
        return []
    title = Path(example.page).stem
    return ["```py", *example.text.splitlines(), "```", "", f"From [{title}]({example.page}).", ""]


def _code(lines: Sequence[str]) -> list[str]:
    return ["```text", *lines, "```", ""]
