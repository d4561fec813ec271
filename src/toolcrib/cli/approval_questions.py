"""What new servers may do without approval: the person at the terminal is asked once.

`toolcrib import` asks about each new server, `toolcrib setup` about all of them together.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, get_args

import typer

from toolcrib.cli.consent import Consent
from toolcrib.cli.screen import console, print_text, safe
from toolcrib.cli.verdicts import server_pattern
from toolcrib.crib import Crib, inventory_of
from toolcrib.execute import Rule
from toolcrib.review import put_rules
from toolcrib.settings import ServerApproval, Settings, own_servers_file, rules_file
from toolcrib.sources.mcp import OwnServersFile

ApprovalOption = Annotated[
    ServerApproval | None,
    typer.Option(
        "--approval",
        help="What of the new servers needs your approval: `allow` nothing, `destructive` tools"
        " marked so, `ask` all but reads. [default: you are asked; without a terminal, the setting"
        " `approval.servers`]",
    ),
]
EACH_SERVER = "each"
BELIEVED = "believe_annotations"
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
    servers: Sequence[str], settings: Settings, option: ServerApproval | None, *, asking: bool
) -> Mapping[str, ServerApproval]:
    """What each of these servers may do: by the option, else by asking, else by the setting.

    What differs from the setting is written down as rules. Raises `ConfigError`.
    """
    default = settings.approval.servers
    chosen: dict[str, ServerApproval] = dict.fromkeys(servers, option or default)
    if asking and option is None and servers:
        chosen = _ask_about_each(servers, default)
    rules = [rule for name, each in chosen.items() for rule in _rules_for(name, each, default)]
    if rules:
        put_rules(rules_file(), rules)
    return chosen


def print_what_changes() -> None:
    """Say what is different from now on for the person at the client."""
    console().print(WHAT_CHANGES)


def _ask_about_each(servers: Sequence[str], default: ServerApproval) -> dict[str, ServerApproval]:
    console().print(QUESTION)
    return {
        name: typer.prompt(safe(f"  {name}").plain, default=default, value_proc=_read_choice)
        for name in servers
    }


def _read_choice(text: str, *others: str) -> ServerApproval:
    """The choice that was typed. Raises `BadParameter`: then typer asks again."""
    for word in CHOICES:
        if text.strip().lower() == word:
            return word
    *words, last = (*CHOICES, *others)
    raise typer.BadParameter(f"say {', '.join(words)} or {last}")


def _rules_for(name: str, chosen: ServerApproval, default: ServerApproval) -> Sequence[Rule]:
    """The rules by which a choice differs from the setting."""
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


def settle_calls(
    crib: Crib,
    added: Sequence[str],
    settings: Settings,
    option: ServerApproval | None,
    consent: Consent,
) -> Mapping[str, ServerApproval]:
    """What each new server may do without approval: by the option, by asking, or by the setting.

    Also asks whether to believe what servers say of their tools. Raises `ConfigError`.
    """
    if not added:
        return {}
    if option is None and not (consent.yes or consent.as_json):
        _ask_belief(crib, added)
        option = _ask_about_all(settings.approval.servers)
        chosen = settle_approval(added, settings, option, asking=option is None)
    else:
        chosen = settle_approval(added, settings, option, asking=False)
    if not consent.as_json:
        print_what_changes()
    return chosen


def _ask_belief(crib: Crib, added: Sequence[str]) -> None:
    """Ask whether to believe what the servers say of their tools; write down a no."""
    kinds = Counter(
        tool.permission_kind
        for name in added
        if name in inventory_of(crib).servers
        for tool in inventory_of(crib).servers[name].capabilities()
    )
    if not kinds:
        return
    claims = f"{kinds['read']} say that they only read, {kinds['dangerous']} that they destroy"
    print_text(f"Of {kinds.total()} tools of the new servers, {claims}.")
    if typer.confirm("Believe what the servers say of their tools?", default=True):
        return
    file = OwnServersFile(own_servers_file())
    for name in added:
        before = file.read(name)
        if before is not None:
            file.change(name, before, {**before, BELIEVED: False})
    print_text(
        f"Written down. To believe a server again: toolcrib edit SERVER --set {BELIEVED}=true"
    )


def _ask_about_all(default: ServerApproval) -> ServerApproval | None:
    """What holds for all new servers; None: ask about each."""
    console().print(QUESTION)
    console().print(f"  {EACH_SERVER:11}  ask me about each server")
    return typer.prompt("For all of them", default=default, value_proc=_read_choice_for_all)


def _read_choice_for_all(text: str) -> ServerApproval | None:
    """As above; None for `each`."""
    return None if text.strip().lower() == EACH_SERVER else _read_choice(text, EACH_SERVER)
