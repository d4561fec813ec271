"""What the tests of security and reliability have to show, and how much of it they do.

Each behaviour has a number, and a test that shows it has the mark `@pytest.mark.plan(number)`;
`tests/test_plan.py` sees to it that neither is without the other. Amounts are pairs: what every run
does, and what `make soak` does. There are gaps: the other numbers are of parts to come.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

SOAK = bool(os.environ.get("TOOLCRIB_SOAK"))
"""Whether the amounts are the full ones. Read once: the tests themselves see no such variable."""


@dataclass(frozen=True, slots=True)
class Required:
    """A behaviour, and the amounts that show it, each in small and in full."""

    behaviour: str
    amounts: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])


REQUIRED: Mapping[int, Required] = {
    1: Required(
        "A rebuild of the index that is killed leaves the old index or the new one, whole.",
        {"kills": (40, 500)},
    ),
    2: Required(
        "A writer of a cache that is killed leaves the old file or the new one, and no other.",
        {"kills": (25, 200)},
    ),
    3: Required(
        "After a loss of power there is a whole index or a fresh one, and every approval.",
        {"images": (60, 1_000)},
    ),
    4: Required("Decisions that somebody damaged approve nothing."),
    5: Required(
        "A damaged cache file costs one warning, and nothing of any other server.",
        {"files": (2_000, 20_000)},
    ),
    6: Required(
        "A full disk is named, leaves the old index and every approval, and is over when it is.",
        {"points": (30, 300)},
    ),
    7: Required("A file that may not be written is searched, and that is said, once."),
    8: Required(
        "Processes that index, approve and search one store at once lose nothing and fail at "
        "nothing.",
        {"processes": (4, 8), "rounds": (6, 60)},
    ),
    13: Required(
        "Beyond what it can do at once, the gateway refuses at once, and finishes what it took.",
        {"requests": (200, 640)},
    ),
    14: Required(
        "A hundred requests a second over HTTP are all answered, each with its own answer.",
        {"seconds": (2, 60)},
    ),
    16: Required(
        "Servers that are killed at random cost their own calls, which end with a typed error in "
        "time; the others answer, and no process or descriptor is left.",
        {
            "servers": (12, 50),
            "kills": (30, 300),
            "servers behind a gateway": (10, 50),
            "kills behind a gateway": (20, 600),
        },
    ),
    17: Required(
        "Nothing that Toolcrib started outlives a Toolcrib that is killed.",
        {"servers": (12, 50), "kills": (2, 10)},
    ),
    18: Required(
        "A clean stop comes to its end, however stubborn the servers are, and leaves none.",
        {"servers": (12, 50)},
    ),
    19: Required("A server that hangs, wherever it does, ends at the deadline of that phase."),
    20: Required(
        "A server that exits at once is started a few times and then left alone; its tools stay "
        "in the search.",
        {"calls": (60, 1_000)},
    ),
    21: Required(
        "However often a server says that its list has changed, it is listed once a second.",
        {"seconds": (3, 30)},
    ),
    22: Required("A list without end is cut, and does not replace a good one."),
    23: Required("Giant output is refused, and takes no memory to speak of."),
    24: Required(
        "What is no message, or not for us, reaches nobody; floods are thinned out.",
        {"notices": (20_000, 1_000_000)},
    ),
    25: Required(
        "A read whose answer was lost is sent once more; everything else never, and is unknown.",
        {"calls": (1_000, 10_000), "deaths of a server": (1, 25)},
    ),
    27: Required(
        "No query breaks a search, or shows what its caller may not see.",
        {"queries": (30_000, 1_000_000)},
    ),
    28: Required(
        "No pattern holds up a search: it is looked for in linear time, or refused.",
        {"patterns": (60, 500), "tools": (500, 10_000)},
    ),
    29: Required(
        "A schema is taken or refused at once, and nothing in it reaches out.",
        {"schemas": (300, 5_000)},
    ),
    30: Required(
        "Whatever a server lists has a legal name of its own, and every call of it an outcome.",
        {"lists": (300, 5_000)},
    ),
    31: Required(
        "What is no proper message is refused at the edge: no failure of ours, and no call.",
        {"bodies": (1_500, 30_000)},
    ),
    35: Required("Whatever trick hides a text in a definition is found, wherever it stands."),
    36: Required(
        "Whatever a server says, and wherever: no terminal obeys it, no log takes it for a line of "
        "ours, and no model reads what people do not see.",
        {"strings": (100, 5_000)},
    ),
    37: Required(
        "A tool is called only as the very definition that was approved, whatever changes.",
        {"runs": (20, 400), "sequences": (15, 150), "steps": (20, 60)},
    ),
    38: Required(
        "A tool that is replaced between being shown and being called is not called.",
        {"swaps": (100, 1_000)},
    ),
    39: Required(
        "Where several tools share a name, the name is nobody's, in whatever order they came.",
        {"names": (100, 1_000)},
    ),
    40: Required(
        "Tools stuffed with words take no places from honest ones; the unapproved take none.",
        {"queries": (140, 400)},
    ),
    41: Required("No route leads to a tool that may not be called, and every route has a row."),
    42: Required(
        "The approval of one call is none of the next.",
        {"chains": (200, 1_000)},
    ),
    43: Required(
        "Only the exact letters of a name are the name.",
        {"look-alikes": (400, 25_000)},
    ),
    44: Required(
        "An approval is for one caller, one definition and these arguments, once, for a while.",
        {"replays": (1_000, 10_000), "rounds": (20, 200)},
    ),
    45: Required("Nothing that a model can reach approves anything."),
    46: Required("Whatever gate fails, the door stays shut."),
    47: Required("No word of a server lowers the kind of a tool, unless approved and believed."),
    48: Required("Only for the hosts and origins that are listed does any route of HTTP answer."),
    49: Required(
        "Without a good credential, or for another's session, nothing answers but health."
    ),
    50: Required("No page in a browser gets an answer, or leave to ask for one."),
    51: Required(
        "What could be read as two requests is none; slow clients go, and cost the others nothing.",
        {"slow connections": (60, 500)},
    ),
    52: Required("No address in a request to the gateway is ever fetched."),
    53: Required("Nothing that a request describes is started, whatever the route."),
    54: Required(
        "No secret of a server is found in what Toolcrib says, shows, logs or keeps, in whatever "
        "usual encoding, though the server repeats it in all that it sends."
    ),
    55: Required(
        "A server sees its own part of the environment, and no other's; files are ours alone.",
        {"servers": (10, 50)},
    ),
    57: Required(
        "Each client of a gateway gets its own answers, though all number their requests alike.",
        {"principals": (3, 20), "clients": (4, 50), "calls": (240, 40_000)},
    ),
    58: Required(
        "Reveal sets keep what they promise, are one principal's alone, and stay within bounds.",
        {"histories": (40, 1_000)},
    ),
    61: Required("Through the gateway, the official conformance suite passes."),
    63: Required("The inspector and both SDKs are served in both eras, on stdio and over HTTP."),
    71: Required("No request holds up the others: it is bounded before it is checked, and aside."),
    81: Required(
        "A flood of events is bounded, counted and told, and costs no call its place in the log."
    ),
    82: Required(
        "A log of events that is damaged, full, shared or left in the middle stays whole, or is set"
        " aside; nothing else fails."
    ),
    83: Required(
        "The log of events has no argument, no result, no query and nothing hidden or secret in it."
    ),
    91: Required(
        "A page of another origin reads nothing of the dashboard and does nothing there, by form, "
        "fetch or no-cors, from another name or from another port."
    ),
    92: Required("Only under its own name does the dashboard answer."),
    93: Required("Whatever headers are forged, without a cookie only the login page answers."),
    94: Required("A login link is good once, for a minute; after it one acts for minutes."),
    95: Required("What strangers write is text on every page, and what hides in it is spelt out."),
    96: Required("A button is good for one action, on the ticket or the whole pin that was shown."),
    97: Required("No GET of the dashboard changes anything."),
    98: Required("No link or cookie of the dashboard is written down, and MCP leads to no page."),
    99: Required("The dashboard is on loopback alone, and nobody else is at its address there."),
    100: Required("A call that is held goes on when the operator allows it, once, and else ends."),
    105: Required("No token opens the gateway that its issuer has not signed, for it and for now."),
    106: Required("Tokens of strangers make the gateway ask the provider seldom, and nobody else."),
    111: Required("Beyond loopback nothing is bound without TLS or a proxy, and named hosts."),
    112: Required("Only a trusted proxy says where a client is, and only it comes without TLS."),
    113: Required("After SIGTERM what runs is finished, and nothing that lasts is begun."),
}


def amount(number: int, of: str) -> int:
    """How many of these the tests of a behaviour take in this run."""
    small, full = REQUIRED[number].amounts[of]
    return full if SOAK else small
