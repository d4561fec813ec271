"""How a request to a server fails before it is sent: the exception, its outcome, its record."""

from typing import NamedTuple

from toolcrib.model import CallError, Outcome, Phase


class StartDiagnosis(NamedTuple):
    """In our own words, to be put into a sentence: "does not start: REASON", "the user can REMEDY".

    The remedy is what to do before the next start.
    """

    reason: str
    remedy: str


NO_DIAGNOSIS = StartDiagnosis("", "")


class StartFailed(Exception):
    """The server could not be reached; nothing was sent.

    `code` is for programs, the message for people. `tail` is the end of what the server wrote.
    `diagnosis` is the cause and the remedy, if they are known.
    """

    def __init__(
        self,
        code: str,
        message: str,
        tail: str = "",
        *,
        retryable: bool = True,
        diagnosis: StartDiagnosis | None = None,
    ) -> None:
        super().__init__(f"{message}. {tail}".strip() if tail else message)
        self.code = code
        self.retryable = retryable
        self.diagnosis = diagnosis or NO_DIAGNOSIS

    @property
    def advice(self) -> str:
        """The message, with the remedy if there is one that the message does not have."""
        message, remedy = str(self), self.diagnosis.remedy
        if not remedy or remedy in message:
            return message
        return f"{message.rstrip('.')}. What to do: {remedy}"


class StartFailure(NamedTuple):
    """The last start that failed, as it is stored: `at` is in seconds since the epoch.

    `reason` and `remedy` are those of a `StartDiagnosis`; they are empty if nothing is known.
    """

    code: str
    message: str
    at: float
    reason: str = ""
    remedy: str = ""

    @property
    def needs_person(self) -> bool:
        """Whether trying again does not help: somebody has to do something first."""
        return self.code in ("needs_login", "not_configured")


def refusal(
    code: str, phase: Phase, message: str, *, server: str, retryable: bool = True
) -> Outcome:
    """The outcome of a request that did not reach the server."""
    text = f"MCP server {server!r}: {message}"
    return Outcome(error=CallError(code, phase, text, server, retryable, "not_sent"))
