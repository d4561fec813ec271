"""Why a server could not be started."""


class StartFailed(Exception):
    """It could not be reached; nothing was sent. `code` is for programs, the message for people."""

    def __init__(self, code: str, message: str, tail: str = "", *, retryable: bool = True) -> None:
        super().__init__(f"{message}. {tail}".strip() if tail else message)
        self.code = code
        self.retryable = retryable
