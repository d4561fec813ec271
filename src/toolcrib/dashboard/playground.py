"""A crib in a program, to be looked at in a browser: how it ranks, and what it holds.

There is nothing to act on: no button, no approval, no server that somebody could start.
"""

import asyncio
import sys
import webbrowser
from contextlib import nullcontext

from toolcrib.crib import Crib
from toolcrib.dashboard.operations import Operations, Overview
from toolcrib.dashboard.process import DashboardOptions, OnLink, run_dashboard
from toolcrib.errors import ConfigError
from toolcrib.model import Json

NEEDS_THREAD = (
    "an event loop runs on this thread, and the dashboard waits until it ends; call it on a thread"
    " of its own: `await asyncio.to_thread(crib.dashboard)`"
)


class ProgramOperations(Operations):
    """What is to be seen of a crib in a program. Nobody operates it here."""

    is_operator = False

    def __init__(self, crib: Crib) -> None:
        super().__init__(lambda: crib.settings, _no_gateway, crib=lambda: nullcontext(crib))

    def look(self) -> Overview:
        """Nothing waits here."""
        return Overview(has_gateway=False)


def show_crib(crib: Crib, options: DashboardOptions, on_link: OnLink) -> None:
    """Serve pages about a crib, as `run_dashboard` does. The crib is open before and after it.

    Raises `ConfigError` on the thread of an event loop that runs.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        run_dashboard(ProgramOperations(crib), options, on_link)
    else:
        raise ConfigError(NEEDS_THREAD)


def show_crib_to_user(crib: Crib, *, port: int, browser: bool) -> None:
    """The same for whoever started the program: links are printed, and the first is opened."""
    opened: list[str] = []

    def on_link(link: str) -> None:
        print(link, file=sys.stderr, flush=True)  # noqa: T201 - it is for the person who runs this
        if browser and not opened:
            webbrowser.open(link)
        opened.append(link)

    options = DashboardOptions(crib.settings.dashboard, port, on_enter=sys.stdin.isatty())
    show_crib(crib, options, on_link)


def _no_gateway(_do: str, /, **_more: Json) -> Json:
    return None
