"""Which wire to speak: by provider, model and endpoint, and by what was refused before.

    auto = Auto()
    print(auto.choose("anthropic", "claude-opus-5-5", "https://api.anthropic.com"))

An unknown endpoint never gets a native wire: gateways drop or refuse keys that they do not know,
and the model would be left without its tools.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any, ClassVar, Literal, get_args
from urllib.parse import urlsplit

from toolcrib.adapters.auto_table import (
    AS_OF,
    NATIVE,
    OUR_FAULT,
    PREFETCH_REFUSED,
    REFUSED,
    EndpointGroup,
    NativeMode,
    Provider,
    WireMode,
    searches_by_itself,
    undated,
)
from toolcrib.adapters.wire.proxy import search_note
from toolcrib.api_arguments import check
from toolcrib.execute import Approver
from toolcrib.model import PrefetchMode
from toolcrib.session import Session
from toolcrib.text import list_nearest

__all__ = ["Auto", "Choice", "PrefetchChoice", "ProviderWire", "choose_prefetch"]

MODES: tuple[WireMode, ...] = get_args(WireMode)
REFUSALS = frozenset({400, 404, 422})


@dataclass(frozen=True, slots=True)
class Choice:
    """A mode and why it is that one. `betas` are the beta headers that it needs there."""

    mode: WireMode
    why: str
    betas: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.mode}: {self.why}"


@dataclass(frozen=True, slots=True)
class PrefetchChoice:
    """Whether the messages of the user are prefetched, and why."""

    on: bool
    why: str

    def __str__(self) -> str:
        return f"{'on' if self.on else 'off'}: {self.why}"


def choose_prefetch(mode: PrefetchMode, model: str) -> PrefetchChoice:
    """Whether to prefetch for this model; "" is one that is not known."""
    if mode != "auto":
        return PrefetchChoice(mode == "on", "it was asked for")
    if searches_by_itself(model):
        return PrefetchChoice(on=False, why=f"{model} searches by itself, by the table of {AS_OF}")
    return PrefetchChoice(on=True, why=f"{model or 'the model'} is not known to search by itself")


class Auto:
    """Chooses, and remembers for each endpoint what it has refused. Safe to share between threads.

    Share one between the conversations of a program, and each endpoint refuses only once.
    """

    def __init__(self) -> None:
        self._refused: set[tuple[str, WireMode]] = set()
        self._changing = Lock()

    def choose(
        self, provider: Provider, model: str, endpoint: str, among: Collection[WireMode] = MODES
    ) -> Choice:
        """The best mode that this model has at this endpoint, and why.

        `among` are the modes that the caller can speak; `append` is always one.
        """
        host = _host(endpoint)
        reasons: list[str] = []
        for native in (each for each in NATIVE[provider] if each.mode in among):
            if (host, native.mode) in self._refused:
                reasons.append(f"{host} has refused {native.mode}")
                continue
            place = next((each for each in native.places if each.hosts.fullmatch(host)), None)
            if place and undated(model) in native.models:
                return _chosen(native, place, model, host, reasons)
            reasons.append(_missing(native, place, model, host))
        return Choice("append", "; ".join(reasons) or f"{provider} has no native wire")

    def refuse(self, endpoint: str, mode: WireMode, error: Exception) -> bool:
        """Whether the error is this endpoint's refusal of the mode; then it is remembered."""
        words = " ".join(_error_texts(error)).lower()
        refused = (
            getattr(error, "status_code", getattr(error, "code", None)) in REFUSALS
            and any(word in words for word in REFUSED[mode])
            and not any(word in words for word in OUR_FAULT)
        )
        if refused:
            with self._changing:
                self._refused |= {(_host(endpoint), mode)}
        return refused


def refuses_prefetch(error: Exception) -> bool:
    """Whether the error says that a model which thinks has to make its searches itself."""
    words = " ".join(_error_texts(error)).lower()
    return any(word in words for word in PREFETCH_REFUSED)


@dataclass(frozen=True, slots=True)
class WireSelector:
    """The wire for one model at one endpoint. `mode` is the one that the caller wants, if any."""

    auto: Auto
    provider: Provider
    model: str
    endpoint: str
    mode: WireMode | None = None

    @property
    def choice(self) -> Choice:
        """The mode that is spoken, and why."""
        chosen = self.auto.choose(self.provider, self.model, self.endpoint)
        return chosen if self.mode is None else _caller_choice(self.mode, chosen)

    def refused(self, error: Exception) -> bool:
        """Whether the endpoint has refused the wire that `Auto` chose. A caller's mode stays."""
        return self.mode is None and self.auto.refuse(self.endpoint, self.choice.mode, error)


class ProviderWire:
    """A session on the API of a provider: the mode that is spoken there, and who approves.

    In code mode nothing is revealed, and every wire lists the same few functions.
    """

    modes: ClassVar[Any] = Literal["append", "proxy"]
    _search = "ours"

    def __init__(  # noqa: PLR0913, PLR0917 - what all wires are given
        self,
        session: Session,
        provider: Provider,
        mode: WireMode | None,
        approver: Approver | None,
        model: str,
        endpoint: str = "",
        auto: Auto | None = None,
    ) -> None:
        """Raise `ConfigError` for what is no session, no mode, or no name."""
        check(session, Session, f"{type(self).__name__}()", "write crib.session()")
        check(model, str, "model=")
        check(endpoint, str, "endpoint=")
        check(mode, self.modes | None, "mode=")
        self._session = session
        wanted = "append" if session.style == "code" else mode
        self._selector = WireSelector(auto or Auto(), provider, model, endpoint, wanted)
        self._prefetch = choose_prefetch(session.prefetch_mode, model)
        self._approver = approver

    @property
    def choice(self) -> Choice:
        """The mode that is used, and why."""
        return self._selector.choice

    def system_note(self) -> str:
        """How to find tools and what waits, for the prompt; "" if nothing does, or hosted."""
        proxy = self.choice.mode == "proxy"
        return "" if self._hosted else search_note(self._session, proxy=proxy)

    def refused(self, error: Exception) -> bool:
        """Whether the error is the endpoint's refusal of the native wire.

        If so, send the same `request` again, which is without it now. Raise any other error. Where
        the provider has no native wire it is always False.
        """
        return self._selector.refused(error)

    @property
    def _hosted(self) -> bool:
        """Whether the provider searches: where its own wire is spoken, and that is wanted."""
        return self._search != "ours" and self.choice.mode in {"reference", "output"}


def _caller_choice(mode: WireMode, chosen: Choice) -> Choice:
    """The mode that a caller wants, whatever would have been chosen."""
    betas = chosen.betas if mode == chosen.mode else ()
    return Choice(mode, "it was asked for", betas)


def _chosen(
    native: NativeMode, place: EndpointGroup, model: str, host: str, reasons: list[str]
) -> Choice:
    why = f"{model} at {host} has it, by the table of {AS_OF}"
    return Choice(native.mode, "; ".join([*reasons, why]), place.betas)


def _missing(native: NativeMode, place: EndpointGroup | None, model: str, host: str) -> str:
    if not place:
        return f"{host} is not known to speak {native.mode}"
    near = list_nearest(undated(model), sorted(native.models))
    return f"{model} is not listed with {native.mode} (nearest: {near})"


def _host(endpoint: str) -> str:
    return urlsplit(endpoint if "//" in endpoint else f"//{endpoint}").hostname or endpoint


def _error_texts(error: Exception) -> Iterator[str]:
    yield str(error)
    yield str(getattr(error, "body", ""))
