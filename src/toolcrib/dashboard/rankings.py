"""How searches rank: asked of the gateway where one runs, else of a crib in this process."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from toolcrib.crib import searcher_of
from toolcrib.dashboard.backends import AskGateway, OpenCrib
from toolcrib.errors import ConfigError
from toolcrib.model import Query
from toolcrib.search import ALTERNATIVES, AS_SET, RankingExplanation

LONGEST_QUERY = 600
LONGEST_NAME = 200


class RankingAsked(NamedTuple):
    """What somebody wants explained: a query, up to two tools, one or two settings by name."""

    query: str = ""
    tool: str = ""
    other: str = ""
    first: str = AS_SET
    second: str = ""

    @property
    def tools(self) -> list[str]:
        """The names of the tools, each once."""
        return [*dict.fromkeys(filter(None, (self.tool, self.other)))]

    @property
    def alternatives(self) -> list[str]:
        """The settings: one, or two that are not the same."""
        return [*dict.fromkeys(filter(None, (self.first, self.second)))]

    def bounded(self) -> "RankingAsked":
        """The same, of bounded size, with settings that there are."""
        return RankingAsked(
            self.query.strip()[:LONGEST_QUERY],
            self.tool.strip()[:LONGEST_NAME],
            self.other.strip()[:LONGEST_NAME],
            self.first if self.first in ALTERNATIVES else AS_SET,
            self.second if self.second in ALTERNATIVES else "",
        )


@dataclass(frozen=True, slots=True)
class RankingAnswer:
    """What was asked, and a ranking for each of the settings; none if there was no query.

    `is_ready`: all vectors are there. `problem` is why a gateway that runs was not asked.
    """

    asked: RankingAsked
    rankings: tuple[RankingExplanation, ...] = ()
    is_ready: bool = True
    by_gateway: bool = False
    problem: str = ""


class Rankings:
    """Explains searches. Nothing is recorded of these, and nothing learnt."""

    def __init__(self, ask: AskGateway, crib: OpenCrib) -> None:
        self._ask = ask
        self._crib = crib

    def explain(self, asked: RankingAsked) -> RankingAnswer:
        """How a query is ranked. Raises `ToolcribError`."""
        asked = asked.bounded()
        if not asked.query:
            return RankingAnswer(asked)
        try:
            answer = self._by_gateway(asked)
            problem = ""
        except ConfigError as error:
            answer, problem = None, str(error)
        return answer or self._by_crib(asked, problem)

    def _by_gateway(self, asked: RankingAsked) -> RankingAnswer | None:
        """What the gateway says; None if none runs. Raises `ConfigError`."""
        reply = cast(
            "Mapping[str, Any] | None",
            self._ask(
                "ranking", query=asked.query, tools=asked.tools, alternatives=asked.alternatives
            ),
        )
        if reply is None:
            return None
        if "error" in reply:
            raise ConfigError(str(reply["error"]))
        found = cast("Mapping[str, Any]", reply["reply"])
        rankings = tuple(map(RankingExplanation.of_json, found["rankings"]))
        return RankingAnswer(asked, rankings, is_ready=found["is_ready"], by_gateway=True)

    def _by_crib(self, asked: RankingAsked, problem: str) -> RankingAnswer:
        query = Query(asked.query)
        with self._crib() as crib:
            explained = searcher_of(crib).explain_ranking
            rankings = tuple(explained(query, asked.tools, each) for each in asked.alternatives)
            is_ready = crib.index.embedded(0)
        return RankingAnswer(asked, rankings, is_ready=is_ready, problem=problem)
