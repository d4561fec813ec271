"""Starts what sleeps behind an answer, before anybody calls it."""

from contextlib import suppress

from toolcrib.errors import UnknownTool
from toolcrib.model import Answer
from toolcrib.pool.pool import Pool
from toolcrib.sources.protocol import Sleeper


def warm_up_best(pool: Pool, found: Answer) -> None:
    """Start what sleeps behind the best hit, while whoever asked reads the answer."""
    if found and found[0].state == "asleep":
        with suppress(UnknownTool):  # it was taken away meanwhile
            source = pool.source_of(found[0].name)
            if isinstance(source, Sleeper):
                source.warm_up()
