"""Calls that were not sent, and why."""

from toolcrib.model import CallError, Outcome, Phase


def refusal(
    code: str, phase: Phase, message: str, *, server: str, retryable: bool = True
) -> Outcome:
    """An outcome without effect: nothing reached the server's tool."""
    words = f"MCP server {server!r}: {message}"
    return Outcome(error=CallError(code, phase, words, server, retryable, "not_sent"))
