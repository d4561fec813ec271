from toolcrib.sources.tail import Tail


def test_the_end_is_kept_and_no_more():
    tail = Tail(10)
    for number in range(1000):
        tail.data_received(b"%03d," % number)
    assert tail.text() == "7,998,999,"
    tail.data_received(b"x" * 1_000_000)
    assert tail.text() == "x" * 10
    assert sum(map(len, tail._chunks)) == 10


def test_what_is_no_text_is_shown_all_the_same():
    tail = Tail(10)
    tail.data_received(b"a\xff")
    assert tail.text() == "a�"
