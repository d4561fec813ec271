"""What `toolcrib setup` asks about calls: once, for all new servers together."""

from collections import Counter
from collections.abc import Mapping, Sequence

import typer

from toolcrib.cli.screen import console, print_text
from toolcrib.cli.server_approval import QUESTION, WORDS, settle_approval, tell_what_changes
from toolcrib.cli.takeover import Choices
from toolcrib.crib import Crib
from toolcrib.settings import ServerApproval, Settings, own_servers_file
from toolcrib.sources.mcp import change_server, read_server

EACH = "each"
BELIEVED = "believe_annotations"


def settle_calls(
    crib: Crib,
    added: Sequence[str],
    settings: Settings,
    said: ServerApproval | None,
    choices: Choices,
) -> Mapping[str, ServerApproval]:
    """What each new server may do without approval: as it is said, asked for, or set.

    Whether what servers say of their tools counts is asked for too. Raises `ConfigError`.
    """
    if not added:
        return {}
    if said is None and not (choices.yes or choices.as_json):
        _ask_belief(crib, added)
        said = _asked(settings.approval.servers)
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


def _asked(default: ServerApproval) -> ServerApproval | None:
    """What holds for all new servers; None: it is to be asked for each."""
    console().print(QUESTION)
    console().print(f"  {EACH:11}  ask me about each server")
    return typer.prompt("For all of them", default=default, value_proc=_choice)


def _choice(text: str) -> ServerApproval | None:
    """Raises `BadParameter`, on which they are asked again."""
    typed = text.strip().lower()
    if typed == EACH:
        return None
    for word in WORDS:
        if typed == word:
            return word
    raise typer.BadParameter(f"say {', '.join(WORDS)} or {EACH}")
