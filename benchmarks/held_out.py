"""Queries of a training split that training leaves out, so that they can judge the model.

MetaTool's development part has no other split.
"""

from zlib import crc32

OF_MANY = 12


def held_out(query: str) -> bool:
    """Whether a query is one of those: one in twelve, by its text alone."""
    return crc32(query.encode()) % OF_MANY == 0
