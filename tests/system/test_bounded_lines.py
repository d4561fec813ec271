import asyncio
import sys

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.system import PipeLine, bounded_lines
from toolcrib.system.pipe import LINE_HEAD_BYTES


class Chunks:
    def __init__(self, chunks):
        self._chunks = [chunk for chunk in chunks if chunk]

    async def read(self, _most):
        return self._chunks.pop(0) if self._chunks else b""


def lines(chunks, **caps):
    async def collect():
        return [line async for line in bounded_lines(Chunks(chunks), **caps)]

    return asyncio.run(collect())


@given(st.lists(st.binary(max_size=20)), st.integers(1, 8))
def test_lines_are_the_same_however_they_come_in(parts, size):
    whole = b"\n".join(parts) + b"\n"
    chunks = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert lines(chunks) == [PipeLine(part) for part in whole.split(b"\n")[:-1]]


def test_what_has_no_end_is_no_line():
    assert lines([b"a\nb"]) == [PipeLine(b"a")]


def test_a_line_that_is_too_long_comes_by_its_beginning_and_the_next_one_whole():
    found = lines([b"x" * 600] * 3 + [b"x\nnext\n"], longest=1000)
    assert found == [PipeLine(b"x" * LINE_HEAD_BYTES, whole=False), PipeLine(b"next")]
    assert lines([b"x" * 2000 + b"\nnext\n"], longest=1000) == found


def test_a_line_that_does_not_end_ends_the_reading():
    chunks = Chunks([b"x" * 1000] * 1000)

    async def collect():
        return [line async for line in bounded_lines(chunks, longest=2000, most_skipped=5000)]

    assert asyncio.run(collect()) == [PipeLine(b"x" * LINE_HEAD_BYTES, whole=False)]
    assert len(chunks._chunks) > 900


def test_a_long_line_is_put_together_once_however_many_pieces_it_has():
    joined = []

    def hear(_frame, event, called):
        if event == "c_call" and called.__name__ == "join" and called.__self__ == b"":
            joined.append(called)

    sys.setprofile(hear)
    try:
        (line,) = lines([b"x" * 4096] * 2000 + [b"\n"])
    finally:
        sys.setprofile(None)
    assert len(line.content) == 4096 * 2000
    assert len(joined) == 1
