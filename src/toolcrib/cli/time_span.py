"""A length of time as people write it: 30m, 2h, 7d."""

import re

from toolcrib.errors import ConfigError

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])")
_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


def span_s(text: str, option: str) -> float:
    """So many seconds. Raises `ConfigError`, which names the option."""
    match = _SPAN.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"{option} takes 30m, 2h or 7d, not {text!r}")
    return float(match[1]) * _UNITS_S[match[2]]
