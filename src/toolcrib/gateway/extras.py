"""All that a window passes on beside tools, in one."""

from typing import Any

from toolcrib.crib import Crib
from toolcrib.gateway import completion, prompts, resources
from toolcrib.gateway.guest import Guest
from toolcrib.gateway.rounds import Rounds
from toolcrib.gateway.watched import Watched


def handlers(crib: Crib, guest: Guest, rounds: Rounds) -> dict[str, Any]:
    """What an SDK server takes as `on_...`, for this guest."""
    return {
        **resources.handlers(crib, guest, rounds),
        **prompts.handlers(crib, guest, rounds),
        **completion.handlers(crib, guest, rounds),
        **Watched(crib, guest).handlers(),
    }
