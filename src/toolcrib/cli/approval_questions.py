"""What new servers may do without approval: the person at the terminal is asked once.

`toolcrib import` asks about each new server, `toolcrib setup` about all of them together.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, get_args

import typer

from toolcrib.cli.consent import Consent
from toolcrib.cli.screen import console, safe
from toolcrib.cli.verdicts import server_pattern
from toolcrib.execute import Rule
from toolcrib.model import JsonObject
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
EACH_SERVER = "each"
BELIEVED = "believe_annotations"
BELIEF = f"""\
Servers say of their tools which only read, and which destroy. `toolcrib edit SERVER --set
{BELIEVED}=false` doubts one of them later.
Believe what the servers say of their tools?"""
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


@dataclass(slots=True)
class NewServerRights:
    """What new servers may do without approval; settled before the first of them is written down.

    A question that is interrupted leaves nothing behind that nobody has answered for. `option` is
    what holds for all of them; None: each is asked about. `chosen` is what was settled so far.
    """

    settings: Settings
    option: ServerApproval | None
    consent: Consent
    believed: bool = True
    chosen: dict[str, ServerApproval] = field(default_factory=dict[str, ServerApproval])

    def settle(self, added: Mapping[str, JsonObject]) -> Mapping[str, JsonObject]:
        """The entries as they are to be written. What differs from the setting becomes rules.

        By the option, else by asking, else by the setting. Where setup guides, it asks once for all
        of them. Raises `ConfigError`.
        """
        default = self.settings.approval.servers
        asking = self.option is None and not (self.consent.yes or self.consent.as_json)
        if asking and self.consent.guided and added and not self.chosen:
            self.believed = typer.confirm(BELIEF, default=True)
            self.option = _ask_about_all(default)
        chosen: dict[str, ServerApproval] = dict.fromkeys(added, self.option or default)
        if asking and self.option is None and added:
            chosen = _ask_about_each(added, default)
        rules = [rule for name, each in chosen.items() for rule in _rules_for(name, each, default)]
        if rules:
            put_rules(rules_file(), rules)
        self.chosen |= chosen
        return added if self.believed else {k: {**v, BELIEVED: False} for k, v in added.items()}


def print_what_changes() -> None:
    """Say what is different from now on for the person at the client."""
    console().print(WHAT_CHANGES)


def _ask_about_each(servers: Iterable[str], default: ServerApproval) -> dict[str, ServerApproval]:
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


def _ask_about_all(default: ServerApproval) -> ServerApproval | None:
    """What holds for all new servers; None: ask about each."""
    console().print(QUESTION)
    console().print(f"  {EACH_SERVER:11}  ask me about each server")
    return typer.prompt("For all of them", default=default, value_proc=_read_choice_for_all)


def _read_choice_for_all(text: str) -> ServerApproval | None:
    """As above; None for `each`."""
    return None if text.strip().lower() == EACH_SERVER else _read_choice(text, EACH_SERVER)
