"""What new servers may do without approval: asked once, where somebody can be asked.

`toolcrib import` asks about each new server, `toolcrib setup` about all of them together.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, get_args

import typer

from toolcrib.cli.consent import Consent
from toolcrib.cli.screen import console, print_text, safe
from toolcrib.cli.verdicts import server_pattern
from toolcrib.crib import Crib
from toolcrib.execute import Rule
from toolcrib.review import put_rules
from toolcrib.settings import ServerApproval, Settings, own_servers_file, rules_file
from toolcrib.sources.mcp import change_server, read_server

ApprovalOption = Annotated[
    ServerApproval | None,
    typer.Option(
        "--approval",
        help="What of the new servers needs your approval: `allow` nothing, `destructive` tools"
        " marked so, `ask` all but reads. [default: you are asked; without a terminal, the setting"
        " `approval.servers`]",
    ),
]
CHOICES: tuple[ServerApproval, ...] = get_args(ServerApproval)
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
        chosen = _ask_about_each(servers, default)
    rules = [rule for name, each in chosen.items() for rule in _rules_for(name, each, default)]
    if rules:
        put_rules(rules_file(), rules)
    return chosen


def tell_what_changes() -> None:
    """The one thing that is different from now on for whoever sits at the client."""
    console().print(WHAT_CHANGES)


def _ask_about_each(servers: Sequence[str], default: ServerApproval) -> dict[str, ServerApproval]:
    console().print(QUESTION)
    return {
        name: typer.prompt(safe(f"  {name}").plain, default=default, value_proc=_read_choice)
        for name in servers
    }


def _read_choice(text: str) -> ServerApproval:
    """The choice that somebody typed. Raises `BadParameter`, on which they are asked again."""
    for word in CHOICES:
        if text.strip().lower() == word:
            return word
    raise typer.BadParameter(f"say {', '.join(CHOICES[:-1])} or {CHOICES[-1]}")


def _rules_for(name: str, chosen: ServerApproval, default: ServerApproval) -> Sequence[Rule]:
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


# What `toolcrib setup` asks about calls: once, for all new servers together.

EACH_SERVER = "each"
BELIEVED = "believe_annotations"


def settle_calls(
    crib: Crib,
    added: Sequence[str],
    settings: Settings,
    said: ServerApproval | None,
    choices: Consent,
) -> Mapping[str, ServerApproval]:
    """What each new server may do without approval: as it is said, asked for, or set.

    Whether what servers say of their tools counts is asked for too. Raises `ConfigError`.
    """
    if not added:
        return {}
    if said is None and not (choices.yes or choices.as_json):
        _ask_belief(crib, added)
        said = _ask_about_all(settings.approval.servers)
        chosen = settle_approval(added, settings, said, asking=said is None)
    else:
        chosen = settle_approval(added, settings, said, asking=False)
    if not choices.as_json:
        tell_what_changes()
    return chosen


def _ask_belief(crib: Crib, added: Sequence[str]) -> None:
    """Ask whether what the servers say of their tools counts, and write down if it does not."""
    kinds = Counter(
        tool.permission_kind
        for name in added
        if name in crib.servers
        for tool in crib.servers[name].capabilities()
    )
    if not kinds:
        return
    said = f"{kinds['read']} say that they only read, {kinds['dangerous']} that they destroy"
    print_text(f"Of {kinds.total()} tools of the new servers, {said}.")
    if typer.confirm("Believe what the servers say of their tools?", default=True):
        return
    for name in added:
        before = read_server(own_servers_file(), name)
        if before is not None:
            change_server(own_servers_file(), name, before, {**before, BELIEVED: False})
    print_text(f"Written down: toolcrib edit SERVER --set {BELIEVED}=true believes one again.")


def _ask_about_all(default: ServerApproval) -> ServerApproval | None:
    """What holds for all new servers; None: it is to be asked for each."""
    console().print(QUESTION)
    console().print(f"  {EACH_SERVER:11}  ask me about each server")
    return typer.prompt("For all of them", default=default, value_proc=_read_choice_for_all)


def _read_choice_for_all(text: str) -> ServerApproval | None:
    """Raises `BadParameter`, on which they are asked again."""
    typed = text.strip().lower()
    if typed == EACH_SERVER:
        return None
    for word in CHOICES:
        if typed == word:
            return word
    raise typer.BadParameter(f"say {', '.join(CHOICES)} or {EACH_SERVER}")
