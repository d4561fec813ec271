"""Why a server could not be started."""

from toolcrib.sources.mcp.diagnosis import Diagnosis

FOR_A_PERSON = frozenset({"needs_login", "not_configured"})
"""Codes of failures that do not go away by trying again: somebody has to do something first."""
UNKNOWN = Diagnosis("", "")


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
        diagnosis: Diagnosis | None = None,
    ) -> None:
        super().__init__(f"{message}. {tail}".strip() if tail else message)
        self.code = code
        self.retryable = retryable
        self.diagnosis = diagnosis or UNKNOWN

    @property
    def advice(self) -> str:
        """The message, and what to do where that is known and not said in it."""
        message, remedy = str(self), self.diagnosis.remedy
        if not remedy or remedy in message:
            return message
        return f"{message.rstrip('.')}. What to do: {remedy}"
