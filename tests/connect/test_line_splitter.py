from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.connect.messages import LineSplitter


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_lines_are_the_same_however_they_come(content: bytes, cuts: list[int]):
    places = sorted({0, *(cut for cut in cuts if cut < len(content)), len(content)})
    lines = LineSplitter(longest=10)
    got = [line for a, b in pairwise(places) for line in lines.feed(content[a:b])]
    whole = [part + b"\n" if len(part) <= 10 else None for part in content.split(b"\n")[:-1]]
    last = content.split(b"\n")[-1]
    assert got == whole + ([None] if len(last) > 10 else [])


def test_what_is_too_long_is_not_kept():
    lines = LineSplitter(longest=10)
    for _ in range(1_000):
        list(lines.feed(b"x" * 1_000))
    assert sum(map(len, lines._pieces)) <= 10
