"""The dashboard: what waits for the operator, what happens, and how the servers are, in a browser.

    browser ──> loopback ──> WebServer ──> Dashboard ──> a screen: data in, HTML out
                                              │
                                              └──> Operations ──> operator socket ──> the gateway
                                                              └─> files: definitions, servers, logs,
                                                                  events

A process of its own: the gateway gets no page and no port, and a heavy screen slows no call.

    process      the command's process: a name of its own on loopback, the link, the end
    server       each request: host, origin, session, then a page or an action
    login        links that are good once, sessions of two levels, tokens of single actions
    headers      what every answer says to the browser
    actions      what a button may do, each by its name
    operations   what screens ask and buttons do: of the gateway if one runs, else of files
    event_queries  what screens ask about events; `event_stream` hands new ones to browsers
    gateway_link   the two ways to a gateway that the command hands over
    page         the frame of all pages, and their parts; `spelling` spells out what hides,
                 `charts` draws
    screens/     home, inbox, live, servers: each loads what it shows, and is a function of that
    static/      the style and the scripts, as they are written

Strangers' text stands beside a button that allows a call. So text is always escaped and spelt out,
no script but ours runs, a GET changes nothing, and each button is good for one thing alone. Nothing
that a model can reach leads here: MCP knows no way to a page, and the link is told to the terminal.
"""

from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.dashboard.gateway_link import AskGateway, WatchGateway
    from toolcrib.dashboard.operations import Operations
    from toolcrib.dashboard.process import DashboardOptions, run_dashboard
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "gateway_link": ("AskGateway", "WatchGateway"),
            "operations": ("Operations",),
            "process": ("DashboardOptions", "run_dashboard"),
        },
    )

__all__ = ["AskGateway", "DashboardOptions", "Operations", "WatchGateway", "run_dashboard"]
