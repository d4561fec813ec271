"""What the cribs of one process share: the database, who follows it, the models, the tracer.

A crib has parts of its own, and closes them. A gateway that serves several tenants opens one crib
with its own parts and the others beside it: one pool of connections, one follower, one model in
memory, however many tenants there are.
"""

from __future__ import annotations

import logging
import os
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from toolcrib import wiring
from toolcrib.errors import ConfigError

if TYPE_CHECKING:
    from toolcrib.crib.follower import Follower
    from toolcrib.embed import Embedder
    from toolcrib.observe import Tracer
    from toolcrib.settings import EmbedSettings, Settings
    from toolcrib.store import FileStores, ReplicaStores
    from toolcrib.store.postgres import Tenant

_log = logging.getLogger(__name__)


class CribParts:
    """The parts of a process with these settings. Raises `ConfigError` and `StoreError`.

    `problems` says what the settings want and nobody can do: tools work all the same.
    """

    def __init__(self, settings: Settings) -> None:
        self._site = wiring.shared_site_of(settings, os.environ) if settings.database else None
        self.tracer, self.problems = _tracer(settings)
        self._embedders: dict[EmbedSettings, Embedder | None] = {}
        self._making = Lock()

    def stores(self, settings: Settings) -> FileStores | ReplicaStores:
        """The stores of whom the settings are for."""
        if self._site is None:
            return wiring.file_stores_of(settings)
        return wiring.replica_stores_in(self._site, settings)

    @cached_property
    def follower(self) -> Follower | None:
        """What keeps cribs in step with a shared store; None without one."""
        if self._site is None:
            return None
        from toolcrib.crib.follower import Follower  # noqa: PLC0415 - for a shared store alone

        return Follower(self._site.shared.listener)

    def find_tenant(self, name: str) -> Tenant | None:
        """The tenant of this name; None if the store has none. Raises `StoreError`."""
        if self._site is None:
            return None
        return self._site.shared.tenants.find(name)

    def embedder(self, settings: Settings) -> Embedder | None:
        """The embedder that the settings name: one for all who name the same.

        Raises `ConfigError` and `EmbedError`.
        """
        with self._making:
            if settings.embed not in self._embedders:
                self._embedders[settings.embed] = wiring.embedder_of(settings)
            return self._embedders[settings.embed]

    def close(self) -> None:
        """Let go of all of it. Every crib that has them is closed before."""
        if "follower" in self.__dict__ and self.follower:
            self.follower.close()
        if self.tracer:
            self.tracer.close()
        if self._site:
            self._site.shared.close()


def _tracer(settings: Settings) -> tuple[Tracer | None, tuple[str, ...]]:
    tracer, problems = None, [wiring.metrics_problem(settings)]
    try:
        tracer = wiring.tracer_of(settings, os.environ)
    except ConfigError as error:
        problems.append(str(error))
    for problem in filter(None, problems):
        _log.warning("%s", problem)
    return tracer, tuple(filter(None, problems))
