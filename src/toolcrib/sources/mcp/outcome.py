"""How a request to a server fails before it is sent: `StartFailed`, and its outcome."""

from typing import NamedTuple

from toolcrib.model import CallError, Outcome, Phase
from toolcrib.sources.mcp.diagnosis import StartDiagnosis

NEEDS_PERSON = frozenset({"needs_login", "not_configured"})
"""Codes of failures that do not go away by trying again: somebody has to do something first."""
NO_DIAGNOSIS = StartDiagnosis("", "")


class StartFailed(Exception):
    """It could not be reached; nothing was sent. `code` is for programs, the message for people.

    `diagnosis` is the cause and what to do, where that is known; see there for its words.
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
        """The message, and what to do where that is known and not said in it."""
        message, remedy = str(self), self.diagnosis.remedy
        if not remedy or remedy in message:
            return message
        return f"{message.rstrip('.')}. What to do: {remedy}"


# Calls that were not sent, and why.


def refusal(
    code: str, phase: Phase, message: str, *, server: str, retryable: bool = True
) -> Outcome:
    """An outcome without effect: nothing reached the server's tool."""
    words = f"MCP server {server!r}: {message}"
    return Outcome(error=CallError(code, phase, words, server, retryable, "not_sent"))


class StartFailure(NamedTuple):
    """How a start failed: `code` for programs, `message` for people, `at` since the epoch.

    `reason` and `remedy` are those of a `Diagnosis`: in words of ours alone, empty if unknown.
    """

    code: str
    message: str
    at: float
    reason: str = ""
    remedy: str = ""
