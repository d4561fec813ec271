"""The commands `toolcrib rules`: list, remove."""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.groups import CommandGroup
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.cli.verdicts import tools_in
from toolcrib.errors import ConfigError
from toolcrib.execute import Rule, Rulebook, RuleFile
from toolcrib.model import Entry
from toolcrib.review import drop_rule
from toolcrib.settings import Settings, rules_file
from toolcrib.wiring import rulebook_of

COMING_ALONG = "tools of Toolcrib, of plugins and of apps: reads pass, the rest is asked for"
FUNCTIONS = "functions of your program: pass, unless they say that they ask, or are dangerous"
WORDS = {
    "allow": "pass",
    "destructive": "pass, but for those marked as destructive, which are asked for",
    "ask": "reads pass, the rest is asked for",
}


class NumberedRule(NamedTuple):
    """A rule with its place in the order, and where it stands."""

    number: int
    rule: Rule
    file: str


def list_rules(context: typer.Context, as_json: AsJson = False) -> None:
    """List the rules about calls in their order.

    The first rule that fits a tool decides. Each is shown with the number of tools that it fits
    now, and of those for which it decides. The end says what holds where no rule fits.
    """
    options: GlobalOptions = context.obj
    settings = options.settings()
    book = rulebook_of(settings, RuleFile(rules_file()).rules)
    rules = _numbered(book, settings)
    with options.crib() as crib:
        tools = list(tools_in(crib))
    print_json(_as_json(rules, tools, book)) if as_json else _show(rules, tools, book)


def remove_rule(
    context: typer.Context,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The rule to remove.")],
    as_json: AsJson = False,
) -> None:
    """Remove a rule by its number, and list the others.

    A rule of the settings file is removed there.

        toolcrib rules remove 2
    """
    options: GlobalOptions = context.obj
    _remove(options.settings(), number)
    list_rules(context, as_json=as_json)


RULES = CommandGroup(
    """Show the rules about calls, or remove one.

`toolcrib allow`, `ask` and `deny` write rules.

    toolcrib rules list
    toolcrib rules remove 2
""",
    {"list": list_rules, "remove": remove_rule},
)


def _numbered(book: Rulebook, settings: Settings) -> list[NumberedRule]:
    written = [(rule, "rules.json") for rule in book.written()]
    named = settings.file.name if settings.file else "config.toml"
    configured = [(rule, named) for rule in book.rules]
    return [
        NumberedRule(n, rule, file) for n, (rule, file) in enumerate([*written, *configured], 1)
    ]


def _remove(settings: Settings, number: int) -> None:
    """Raises `ConfigError` for a number that no rule of ours has."""
    written = RuleFile(rules_file()).rules()
    if 0 < number <= len(written) and drop_rule(rules_file(), written[number - 1]):
        return
    if len(written) < number <= len(written) + len(settings.approval.rules):
        file = settings.file or "config.toml"
        raise ConfigError(f"rule {number} stands in the settings ({file}); take it out there")
    raise ConfigError(f"there is no rule {number}; `toolcrib rules list` shows their numbers")


def _fits(numbered: NumberedRule, tools: Sequence[Entry]) -> list[Entry]:
    return [each for each in tools if numbered.rule.touches(each)]


def _decides(
    numbered: NumberedRule, every: Sequence[NumberedRule], tools: Sequence[Entry]
) -> list[Entry]:
    """The tools that it fits and no earlier rule fits, for callers of its profile."""
    profile = numbered.rule.profile
    before = [
        each.rule for each in every[: numbered.number - 1] if each.rule.profile in (None, profile)
    ]
    return [
        each for each in _fits(numbered, tools) if not any(rule.touches(each) for rule in before)
    ]


def _as_json(rules: Sequence[NumberedRule], tools: Sequence[Entry], book: Rulebook) -> object:
    return {
        "rules": [
            {
                "number": each.number,
                "verdict": each.rule.verdict,
                "pattern": each.rule.pattern,
                "kind": each.rule.kind,
                "profile": each.rule.profile,
                "from": each.file,
                "fits": [entry.name for entry in _fits(each, tools)],
                "decides": [entry.name for entry in _decides(each, rules, tools)],
            }
            for each in rules
        ],
        "default": {"servers": book.servers, "profiles": dict(book.profiles)},
    }


def _show(rules: Sequence[NumberedRule], tools: Sequence[Entry], book: Rulebook) -> None:
    screen = console()
    if rules:
        columns = (">", "verdict", "pattern", "kind", "profile", "?from", ">fits", ">decides")
        rows = [
            (
                each.number,
                each.rule.verdict,
                each.rule.pattern,
                each.rule.kind or "any",
                each.rule.profile or "any",
                each.file,
                len(_fits(each, tools)),
                len(_decides(each, rules, tools)),
            )
            for each in rules
        ]
        screen.print(table("", columns, rows))
        screen.print("\nWhere none of them fits:")
    else:
        screen.print("There are no rules. Without one:")
    screen.print(safe(f"  tools of your MCP servers: {WORDS[book.servers]}"))
    for profile, servers in book.profiles.items():
        screen.print(safe(f"  the same for clients of the profile {profile}: {WORDS[servers]}"))
    screen.print(f"  {FUNCTIONS}")
    screen.print(f"  {COMING_ALONG}")
