"""The screens: each a function of what there is. They do nothing, and know no request."""

from toolcrib.dashboard.screens.home import home_screen
from toolcrib.dashboard.screens.inbox import inbox_screen
from toolcrib.dashboard.screens.servers import server_screen, servers_screen

__all__ = ["home_screen", "inbox_screen", "server_screen", "servers_screen"]
