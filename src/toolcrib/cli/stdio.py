"""`toolcrib serve --stdio`: a client waits, so it is answered before all is loaded.

`main` calls this without loading the table of commands. What it needs of them loads on a thread.
"""

import os
from typing import TYPE_CHECKING

from toolcrib.connect import (
    ConnectOptions,
    FirstReplies,
    StdioOpening,
    claim_stdio,
    locate_daemon,
)

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from toolcrib.cli.global_options import GlobalOptions
    from toolcrib.crib import Crib
    from toolcrib.gateway import OpenGateway


def serve_at_once(options: ConnectOptions) -> None:
    """Answer the first requests of the client while the gateway loads; then serve with it."""

    def load() -> "OpenGateway":
        from pathlib import Path  # noqa: PLC0415 - all of this loads on the thread

        from toolcrib.cli.global_options import GlobalOptions  # noqa: PLC0415

        config = Path(options.config) if options.config else None
        return open_stdio(
            GlobalOptions(config, tuple(map(Path, options.mcp_config))), options.profile
        )

    with claim_stdio() as descriptors:
        place = locate_daemon(options, os.environ)
        opening = StdioOpening(descriptors, FirstReplies(place, options.profile, os.environ))
        gateway = opening.wait_for(load)
        from toolcrib.gateway import serve_stdio  # noqa: PLC0415 - it loads the SDK

        serve_stdio(gateway, opening)


def open_stdio(options: "GlobalOptions", profile: str) -> "OpenGateway":
    """The gateway of these settings, loaded. What is wrong with them goes to stderr."""
    from toolcrib.cli.global_options import daemon_place  # noqa: PLC0415 - as above
    from toolcrib.cli.screen import warn  # noqa: PLC0415
    from toolcrib.crib import Crib  # noqa: PLC0415
    from toolcrib.gateway import (  # noqa: PLC0415
        SurfaceFile,
        local_principal,
        open_gateway,
        stamps_of,
    )

    settings, _ = options.lasting_settings()
    read = stamps_of(options.files(settings))  # before the files are read that count
    settings, broken = options.lasting_settings()
    # Modules of tools are no part of what the first replies are kept for.
    surface = None if options.tools else SurfaceFile(daemon_place(options), lambda: read)

    def open_crib(loop: "AbstractEventLoop") -> "Crib":
        crib = Crib.from_settings(settings, loop=loop)
        for problem in (*filter(None, [broken]), *crib.problems):
            warn(problem)
        return crib

    return open_gateway(settings, open_crib, local_principal(settings.gateway, profile), surface)
