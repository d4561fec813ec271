"""The commands `toolcrib allow`, `ask` and `deny`: each writes rules about tools."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import escape
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.screen import AsJson, console, number, print_json, safe
from toolcrib.crib import Crib, inventory_of
from toolcrib.errors import ConfigError
from toolcrib.execute import Rule, RuleFile, Verdict
from toolcrib.gateway import profile_named
from toolcrib.model import Entry, EntryTraits, PermissionKind, ToolInfo
from toolcrib.names import may_mean
from toolcrib.review import put_rules
from toolcrib.settings import rules_file
from toolcrib.text import nearest_names
from toolcrib.wiring import rulebook_of

Names = Annotated[
    list[str],
    typer.Argument(
        metavar="SERVER|TOOL", help="A server, a tool, or `server/tool`, also `server/del*`."
    ),
]
OfKind = Annotated[PermissionKind | None, typer.Option("--kind", help="Only tools of this kind.")]
OfProfile = Annotated[
    str, typer.Option("--profile", metavar="NAME", help="Only for clients of this profile.")
]

MOST_NAMED = 5
_YOU = "`toolcrib approvals list`, or the dashboard"
ASKED = {
    "local": f"Your own clients ask you, if they can. Other calls wait for you: {_YOU}.",
    "all": "Each client asks its own user, so whoever makes a call may approve it"
    f" (`approval.elicitation`). Where it cannot, the call waits for you: {_YOU}.",
    "none": f"No client asks. Each call waits for you: {_YOU}.",
}
"""Who will be asked, by `approval.elicitation`."""

_WILD = re.compile(r"[*?\[]")


def allow_command(
    context: typer.Context,
    names: Names,
    kind: OfKind = None,
    profile: OfProfile = "",
    as_json: AsJson = False,
) -> None:
    """Let calls of a server, or of single tools, through without approval.

    The rule is written to `rules.json` in the configuration folder, and is in force at once, also
    at a running gateway. It comes before the rules of the settings, and after rules that deny. Your
    client may still ask you by itself.

        toolcrib allow github
        toolcrib allow github --kind read --profile agents
        toolcrib allow github/create_issue
    """
    _write_rules(context.obj, "allow", names, kind=kind, profile=profile, as_json=as_json)


def ask_command(
    context: typer.Context,
    names: Names,
    kind: OfKind = None,
    profile: OfProfile = "",
    as_json: AsJson = False,
) -> None:
    """Have calls of a server, or of single tools, approved one by one.

    Your own MCP client asks you, if it can. Calls of others wait for you, and so do those that are
    too long for a client to show: `toolcrib approvals list`, or the dashboard. The rule is written
    to `rules.json` in the configuration folder, and is in force at once, also at a running gateway.

        toolcrib ask github --kind dangerous
        toolcrib ask filesystem/write_file
    """
    _write_rules(context.obj, "ask", names, kind=kind, profile=profile, as_json=as_json)


def deny_command(
    context: typer.Context,
    names: Names,
    kind: OfKind = None,
    profile: OfProfile = "",
    as_json: AsJson = False,
) -> None:
    """Let nobody call a server, or single tools of it.

    Nobody is shown them either: no search, list or description has them. No other rule, annotation
    or person can allow what is denied. The rule is written to `rules.json` in the configuration
    folder, and is in force at once, also at a running gateway.

        toolcrib deny github/delete_*
        toolcrib deny shell --profile agents
    """
    _write_rules(context.obj, "deny", names, kind=kind, profile=profile, as_json=as_json)


def _write_rules(
    options: GlobalOptions,
    verdict: Verdict,
    names: Sequence[str],
    *,
    kind: PermissionKind | None,
    profile: str,
    as_json: bool,
) -> None:
    """Write a rule for each name, all of them or none.

    Raises `ConfigError` for a name that means nothing here, with the nearest, and `AmbiguousName`.
    """
    settings, file = options.settings(), rules_file()
    if profile:
        profile_named(settings.gateway, profile)
    with options.crib() as crib:
        rules = [Rule(verdict, _pattern_of(crib, name), kind, profile or None) for name in names]
        put_rules(file, rules)
        book, tools = rulebook_of(settings, RuleFile(file).rules), list(tools_in(crib))
        verdicts: dict[str, Verdict] = {each.name: book.verdict(each, profile) for each in tools}
        effects = [_effect(rule, crib, tools, verdicts) for rule in rules]
    if as_json:
        print_json({"file": str(file), "rules": effects})
        return
    for effect in effects:
        _show(effect)
    if verdict == "ask":
        console().print(safe(ASKED[settings.approval.elicitation]))


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """A new rule and the tools that it fits; `otherwise` are those that another rule decides.

    If it fits none, `unlisted` is the server that it may be about: see `unlisted_server`.
    """

    rule: Rule
    tools: Sequence[str]
    otherwise: Mapping[str, Verdict]
    unlisted: str


def _effect(
    rule: Rule, crib: Crib, tools: Sequence[Entry], verdicts: Mapping[str, Verdict]
) -> RuleEffect:
    fits = [each.name for each in tools if rule.touches(each)]
    otherwise: Mapping[str, Verdict] = {
        name: verdicts[name] for name in fits if verdicts[name] != rule.verdict
    }
    return RuleEffect(rule, fits, otherwise, "" if fits else unlisted_server(rule.pattern, crib))


def _show(effect: RuleEffect) -> None:
    rule, others = effect.rule, effect.otherwise
    only = (("kind", rule.kind), ("profile", rule.profile))
    about = ", ".join([rule.pattern, *(f"{key} {value}" for key, value in only if value)])
    fits = number(len(effect.tools), "tool")
    if server := effect.unlisted:
        fits += f" yet: {server} is not listed, see `toolcrib refresh {server}`"
    console().print(safe(f"{rule.verdict}: {about} ({fits})."), soft_wrap=True)
    if others:
        some = [f"{name} ({verdict})" for name, verdict in others.items()][:MOST_NAMED]
        more = [f"{len(others) - MOST_NAMED} more"] * (len(others) > MOST_NAMED)
        warning = f"Another rule comes before it for {', '.join([*some, *more])}"
        console().print(safe(f"{warning}: see `toolcrib rules list`."), soft_wrap=True)


def tools_in(crib: Crib) -> Iterator[Entry]:
    """All that rules can be about."""
    return (each for each in crib.entries().values() if each.kind == "tool")


def _pattern_of(crib: Crib, name: str) -> str:
    """The pattern that means this, and nothing else. Raises `ConfigError` and `AmbiguousName`."""
    tools = list(tools_in(crib))
    sources = {_source_of(each) for each in tools}
    servers = {
        source.id or source.server: source.server for source in inventory_of(crib).servers.values()
    }
    for id, server in servers.items():
        if name in (id, server, f"mcp__{id}", f"mcp__{server}"):
            return f"{_spelt_out(id, 'mcp', tools)}/*"
    if name in sources:
        kinds = {each.source for each in tools if _source_of(each) == name}
        return f"{_spelt_out(name, kinds.pop(), tools)}/*"
    if any(Rule("deny", name).touches(each) for each in tools) and _is_pattern(name):
        return name
    if inventory_of(crib).pool.candidates(name):
        return _tool_pattern(crib.get(name), tools)
    if unlisted_server(name, crib):
        return name  # any name of its may be right
    raise ConfigError(_unknown(name, tools, [*servers, *servers.values(), *sources]))


def _unknown(name: str, tools: Sequence[Entry], sources: Sequence[str]) -> str:
    """That nothing has this name, with the same tool of other sources, or the nearest names."""
    source, slash, bare = name.partition("/")
    spelt = {f"{_source_of(each)}/{each.bare}": each.bare for each in tools}
    if slash and source not in sources:
        near = [*nearest_names(source, sorted(set(sources)))]
        near += [each for each, own in spelt.items() if own == bare]
    else:
        names = {*sources, *(spelt if slash else spelt.values())}
        near = [*nearest_names(name, sorted(names))]
    listed = ", ".join(near[:MOST_NAMED]) or "none"
    return f"no server and no tool is called {name!r}; nearest: {listed}"


def unlisted_server(pattern: str, crib: Crib) -> str:
    """A server that a pattern may be about, and whose tools were never listed; "" if none is."""
    listed = {each.source_id for each in crib.entries().values() if each.source == "mcp"}
    for source in inventory_of(crib).servers.values():
        id = source.id or source.server
        any_tool = ToolInfo(name="any", description="", source="mcp", source_id=id)
        traits = EntryTraits.of(Entry("any", "any", any_tool))
        if id not in listed and may_mean(pattern, traits):
            return source.server
    return ""


def server_pattern(server: str) -> str:
    """The pattern of all tools of an MCP server, whether or not one is known."""
    return f"{escape(server.replace('/', '_'))}/*"


def _source_of(entry: Entry) -> str:
    """The id by which patterns mean its source."""
    return (entry.source_id or entry.source).replace("/", "_")


def _is_pattern(name: str) -> bool:
    return "/" in name or bool(_WILD.search(name))


def _tool_pattern(entry: Entry, tools: Sequence[Entry]) -> str:
    if entry.kind != "tool":
        raise ConfigError(f"{entry.name!r} is a {entry.kind}, and rules are about tools")
    source = _spelt_out(_source_of(entry), entry.source, tools)
    return f"{source}/{escape(entry.bare)}"


def _spelt_out(source: str, kind: str, tools: Sequence[Entry]) -> str:
    """The source in a pattern, with its kind where one of another kind has the same id."""
    shared = any(_source_of(each) == source and each.source != kind for each in tools)
    return f"{kind}:{escape(source)}" if shared else escape(source.replace("/", "_"))
