"""Why a server could not be started."""

FOR_A_PERSON = frozenset({"needs_login", "not_configured"})
"""Codes of failures that do not go away by trying again: somebody has to do something first."""


class StartFailed(Exception):
    """It could not be reached; nothing was sent. `code` is for programs, the message for people."""

    def __init__(self, code: str, message: str, tail: str = "", *, retryable: bool = True) -> None:
        super().__init__(f"{message}. {tail}".strip() if tail else message)
        self.code = code
        self.retryable = retryable
