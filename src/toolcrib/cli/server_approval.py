"""What new servers may do without approval: asked once for each, where somebody can be asked."""

from collections.abc import Mapping, Sequence
from typing import Annotated, get_args

import typer

from toolcrib.cli.screen import console, safe
from toolcrib.cli.verdicts import server_pattern
from toolcrib.execute import Rule
from toolcrib.review import put_rules
from toolcrib.settings import ServerApproval, Settings, rules_file

ApprovalOption = Annotated[
    ServerApproval | None,
    typer.Option(
        "--approval",
        help="What of the new servers needs your approval: `allow` nothing, `destructive` tools"
        " marked so, `ask` all but reads. [default: you are asked; without a terminal, the setting"
        " `approval.servers`]",
    ),
]
WORDS: tuple[ServerApproval, ...] = get_args(ServerApproval)
QUESTION = """\
What may the new servers do without your approval?
  allow        all, as before
  destructive  all but tools marked as destructive: those ask you
  ask          reads alone: all else asks you"""
WHAT_CHANGES = (
    "Your client asked you about each tool; now it asks about `tool_call`, and `tool_call_read` for"
    " what only reads. With `toolcrib ask SERVER` you are asked about each call."
)


def settle_approval(
    servers: Sequence[str], settings: Settings, said: ServerApproval | None, *, asking: bool
) -> Mapping[str, ServerApproval]:
    """What each of these servers may do: as it is said, else by asking, else as it is set.

    What differs from the setting is written down as rules. Raises `ConfigError`.
    """
    default = settings.approval.servers
    chosen: dict[str, ServerApproval] = dict.fromkeys(servers, said or default)
    if asking and said is None and servers:
        chosen = _asked(servers, default)
    rules = [rule for name, each in chosen.items() for rule in _rules(name, each, default)]
    if rules:
        put_rules(rules_file(), rules)
    return chosen


def tell_what_changes() -> None:
    """The one thing that is different from now on for whoever sits at the client."""
    console().print(WHAT_CHANGES)


def _asked(servers: Sequence[str], default: ServerApproval) -> dict[str, ServerApproval]:
    console().print(QUESTION)
    return {
        name: typer.prompt(safe(f"  {name}").plain, default=default, value_proc=_choice)
        for name in servers
    }


def _choice(text: str) -> ServerApproval:
    """The choice that somebody typed. Raises `BadParameter`, on which they are asked again."""
    for word in WORDS:
        if text.strip().lower() == word:
            return word
    raise typer.BadParameter(f"say {', '.join(WORDS[:-1])} or {WORDS[-1]}")


def _rules(name: str, chosen: ServerApproval, default: ServerApproval) -> Sequence[Rule]:
    """The rules that make a choice out of what is set."""
    if chosen == default:
        return ()
    about = server_pattern(name)
    match chosen:
        case "allow":
            return [Rule("allow", about)]
        case "destructive":
            return [Rule("ask", about, "dangerous"), Rule("allow", about)]
        case "ask":
            return [Rule("allow", about, "read"), Rule("ask", about)]
