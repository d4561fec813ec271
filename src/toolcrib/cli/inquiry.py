"""How commands ask about the pool: the gateway of these settings if one runs, else a crib.

The reply is the same both ways (`gateway.command_queries`), and so is what is warned of. A gateway
that declines, hangs or ends costs a moment, and nothing else: then the command opens a crib.
"""

import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rich.status import Status

from toolcrib import errors, gateway
from toolcrib.cli.global_options import GlobalOptions, daemon_place
from toolcrib.cli.screen import console, warn
from toolcrib.cli.warnings import warn_once

if TYPE_CHECKING:
    from toolcrib.connect import DaemonFiles
    from toolcrib.crib import Crib

BLAS_THREADS = "OPENBLAS_NUM_THREADS"
WAITING = "Reading new tools (kept for the next time)"
BY_WORDS = "many tools are new, so this is ranked by words alone; run `toolcrib index` once"


def inquire(options: GlobalOptions, what: str, **asked: Any) -> Mapping[str, Any]:  # noqa: ANN401 - JSON
    """The reply to a query of a command; see `gateway.answer_query`. Raises `ToolcribError`.

    Warns of problems once, and if the answer lacks vectors that are still to be made.
    """
    with _spinner() as spinner:
        reply = _of_gateway(options, what, asked, spinner)
        if reply is None:
            with _one_blas_thread():
                answer_query = gateway.answer_query
            with options.crib() as crib:
                answered = answer_query(crib, what, asked, spinner.start)
            reply = cast("Mapping[str, Any]", json.loads(json.dumps(answered)))
    if reply.get("is_ready") is False:
        warn(BY_WORDS)
    return reply


@contextmanager
def _one_blas_thread() -> Generator[None]:
    """While numpy is loaded: without the threads of its BLAS, unless the environment wants them.

    To start them costs as much as to load the rest of it, and one query is done on one thread.
    """
    if BLAS_THREADS in os.environ:
        yield
        return
    os.environ[BLAS_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[BLAS_THREADS]


def await_vectors(crib: "Crib") -> None:
    """Wait for the vectors of what is new in the catalog; say so, and what to do if it is much."""
    with _spinner() as spinner:
        is_ready = gateway.await_vectors(crib, spinner.start)
    if not is_ready:
        warn(BY_WORDS)


def gateway_to_ask(options: GlobalOptions) -> "DaemonFiles | None":
    """Where a gateway of just these options is, if one runs; no gateway has heard of `--tools`."""
    return None if options.tools else daemon_place(options)


def warn_of(about: Mapping[str, Any]) -> None:
    """Warn once of what is wrong in the configuration, as the gateway tells it."""
    warn_once(Path(about["state_folder"]), "all", about["problems"])


def _of_gateway(
    options: GlobalOptions, what: str, asked: Mapping[str, Any], spinner: Status
) -> Mapping[str, Any] | None:
    place = gateway_to_ask(options)
    if place is None:
        return None

    def on_progress(news: object) -> None:
        if news == {"waiting": True}:
            spinner.start()

    answer: Mapping[str, Any] | None = gateway.query_daemon(place, what, on_progress, **asked)
    if answer is None:
        return None
    warn_of(answer)
    if "error" in answer:
        raise getattr(errors, answer["error_kind"], errors.ToolcribError)(answer["error"])
    return cast("Mapping[str, Any]", answer["reply"])


@contextmanager
def _spinner() -> Generator[Status]:
    """What shows that something takes its time, once it is started; gone in the end."""
    spinner = console(to_stderr=True).status(WAITING)
    try:
        yield spinner
    finally:
        spinner.stop()
