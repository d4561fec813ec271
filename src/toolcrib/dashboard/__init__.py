"""The dashboard: what waits for the operator, what happens, and how the servers are, in a browser.

    browser ──> loopback ──> WebServer ──> Dashboard ──> a screen: data in, HTML out
                                              │
                                              └──> Operations ──> operator socket ──> the gateway
                                                              └─> files: definitions, servers, logs,
                                                                  events

A process of its own: the gateway gets no page and no port, and a heavy screen slows no call.

    process      the command's process: a name of its own on loopback, the link, the end
    playground   the same about a crib in a program, with nothing to act on
    server       each request: host, origin, session, then a page or an action
    login        links that are good once, sessions of two levels, tokens of single actions
    headers      what every answer says to the browser
    actions      what a button may do, each by its name
    operations   what screens ask and buttons do: of the gateway if one runs, else of files
    rankings     how searches rank: the same, else of a crib in this process (`backends`)
    tool_catalog  the tools of such a crib; `survey` works out lint and `tool_map` of all of them
    event_queries  what screens ask about events; `event_stream` hands new ones to browsers,
                 `gap_report` makes the report of what is missing
    client_queries  what is asked about clients, profiles, keys and conversations
    page         the frame of all pages, and their parts; `spelling` spells out what hides, `bars`
                 draws
    screens/     home, inbox, live, why, servers, gaps, tools, clients: each is a function of
                 what it loads
    static/      the style and the scripts, as they are written

Strangers' text stands beside a button that allows a call. So text is always escaped and spelt out,
no script but ours runs, a GET changes nothing, and each button is good for one thing alone. Nothing
that a model can reach leads here: MCP knows no way to a page, and the link is told to the terminal.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.dashboard.backends import AskGateway
    from toolcrib.dashboard.operations import Operations
    from toolcrib.dashboard.playground import show_crib, show_crib_to_user
    from toolcrib.dashboard.process import DashboardOptions, run_dashboard
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "backends": ("AskGateway",),
            "operations": ("Operations",),
            "playground": ("show_crib", "show_crib_to_user"),
            "process": ("DashboardOptions", "run_dashboard"),
        },
    )
