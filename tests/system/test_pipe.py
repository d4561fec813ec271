from toolcrib.system import OutputEnds
from toolcrib.system.pipe import GAP


def test_the_beginning_and_the_end_are_kept_and_no_more():
    kept = OutputEnds(8, 10)
    for number in range(1000):
        kept.data_received(b"%03d," % number)
    assert kept.text() == f"000,001,{GAP}7,998,999,"
    kept.data_received(b"x" * 1_000_000)
    assert kept.text() == f"000,001,{GAP}{'x' * 10}"
    assert sum(map(len, kept._chunks)) == 10


def test_what_fits_is_whole():
    kept = OutputEnds(4, 10)
    for chunk in (b"ab", b"cdef", b"", b"ghijklmn"):
        kept.data_received(chunk)
    assert kept.text() == "abcdefghijklmn"


def test_a_character_across_head_and_tail_is_whole():
    kept = OutputEnds(2, 10)
    kept.data_received("aé!".encode())
    assert kept.text() == "aé!"


def test_what_is_no_text_is_shown_all_the_same():
    kept = OutputEnds(10, 10)
    kept.data_received(b"a\xff")
    assert kept.text() == "a�"


def test_who_listens_hears_all_of_it():
    heard: list[bytes] = []
    kept = OutputEnds(1, 1, heard.append)
    for chunk in (b"one", b"two"):
        kept.data_received(chunk)
    assert b"".join(heard) == b"onetwo"
