"""What is worked out of all tools at once: lint findings and the map, once for each state of them.

It takes seconds for ten thousand tools, so a thread does it, and screens show what is there.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock, Thread

import numpy as np

from toolcrib.crib import Crib, inventory_of, searcher_of
from toolcrib.dashboard.backends import OpenCrib
from toolcrib.dashboard.tool_map import ToolMap, map_tools
from toolcrib.errors import ToolcribError
from toolcrib.lint import LintFinding, lint
from toolcrib.model import Entry

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of all tools of one state of the pool; None: not yet.

    `findings` are by name. A map without tools means that there are no vectors. `unmapped` are so
    many tools that have none.
    """

    of: str = ""
    findings: Mapping[str, Sequence[LintFinding]] | None = None
    map: ToolMap | None = None
    unmapped: int = 0


class Surveys:
    """Keeps the survey of a crib up to date. Nobody waits for it."""

    def __init__(self, crib: OpenCrib) -> None:
        self._crib = crib
        self._turn = Lock()
        self._survey = Survey()
        self._thread: Thread | None = None

    def of(self, crib: Crib) -> Survey:
        """What is known of just these tools; if that is not all, it is being worked out."""
        state = _state(crib)
        with self._turn:
            if self._survey.of != state:
                self._survey = Survey(state)
            is_whole = self._survey.findings is not None and self._survey.map is not None
            if not is_whole and not (self._thread and self._thread.is_alive()):
                self._thread = Thread(target=self._work, daemon=True, name="survey of tools")
                self._thread.start()
            return self._survey

    def wait(self) -> None:
        """Until the thread has ended, if there is one."""
        with self._turn:
            thread = self._thread
        if thread:
            thread.join()

    def _work(self) -> None:
        try:
            with self._crib() as crib:
                state = _state(crib)
                entries = [_whole(each) for each in crib.entries().values()]
                vectors = searcher_of(crib).vectors(entries)
            names = sorted(vectors)
            rows = np.stack([vectors[each] for each in names]) if names else np.zeros((0, 0), "f4")
            drawn = map_tools(names, rows)
            self._note(state, map=drawn, unmapped=len(entries) - len(drawn.names))
            self._note(state, findings=_by_name(lint(entries)))
        except ToolcribError as error:
            _log.warning("the tools could not be surveyed: %s", error)

    def _note(self, state: str, **found: object) -> None:
        with self._turn:
            if self._survey.of == state:
                self._survey = replace(self._survey, **found)  # pyright: ignore[reportArgumentType]


def _state(crib: Crib) -> str:
    """Another one for other tools, or once all have their vectors."""
    pool = inventory_of(crib).current()
    return f"{pool.fingerprint} {crib.index.embedded(0)}"


def _whole(entry: Entry) -> Entry:
    """The entry with its definition in memory, for whenever its file is closed."""
    place = (entry.name, entry.bare, entry.capability, entry.state, entry.remedy, entry.overlaps)
    return Entry(*place)


def _by_name(findings: Sequence[LintFinding]) -> Mapping[str, Sequence[LintFinding]]:
    by_name: dict[str, list[LintFinding]] = {}
    for each in findings:
        by_name.setdefault(each.name, []).append(each)
    return by_name
