"""A gateway of its own over standard streams, in front of one fake server.

python stdio_gateway.py COMMAND [ARGUMENT...]
"""

import asyncio
import sys

from toolcrib.connect import StdioOpening, claim_stdio
from toolcrib.crib import Crib
from toolcrib.gateway import open_gateway, serve_stdio
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.settings import EmbedSettings, Settings


def main() -> None:
    crib = Crib(Settings(store=":memory:", embed=EmbedSettings(embedder="none")))
    crib.add_mcp("fake", command=sys.argv[1:], permission={"*": "read"})
    asyncio.run(crib.refresh())
    crib.add(_noisy, permission_kind="read")
    print("before the wire is taken")  # noqa: T201 - a client skips it
    with claim_stdio() as descriptors:
        gateway = open_gateway(
            crib.settings, lambda _loop: crib, Principal("local", Profile(mode="search"))
        )
        serve_stdio(gateway, StdioOpening(descriptors))


def _noisy() -> str:
    """Print to the standard output."""
    print("noise")  # noqa: T201 - the point
    return "said"


if __name__ == "__main__":
    main()
