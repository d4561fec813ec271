import asyncio

from toolcrib.system import LineReader, OutputEnds
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


def read_while(*chunks: bytes, takes: bool = True) -> tuple[list[bytes], list[bytes]]:
    """The lines that were taken and what was read, of chunks that come one in each turn."""
    taken: list[bytes] = []
    read: list[bytes] = []

    def take(line: bytes) -> bool:
        taken.append(line)
        return takes

    async def run() -> None:
        reader = LineReader()
        reader.take_line = take

        async def read_all() -> None:
            while data := await reader.read(100):
                read.append(data)

        reading = asyncio.create_task(read_all())
        await asyncio.sleep(0)
        for chunk in chunks:
            reader.feed_data(chunk)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        reader.feed_eof()
        await reading

    asyncio.run(run())
    return taken, read


def test_a_line_is_taken_as_it_comes_and_not_read():
    assert read_while(b"one\n", b"two\n") == ([b"one", b"two"], [])


def test_a_line_that_nobody_takes_is_read():
    assert read_while(b"one\n", takes=False) == ([b"one"], [b"one\n"])


def test_what_comes_in_pieces_or_together_is_read():
    assert read_while(b"on", b"e\n", b"two\n") == ([b"two"], [b"on", b"e\n"])
    assert read_while(b"one\ntwo\n", b"thr", b"ee\nfour\n") == (
        [],
        [b"one\ntwo\n", b"thr", b"ee\nfour\n"],
    )


def test_no_line_overtakes_one_that_is_not_read_yet():
    taken: list[bytes] = []

    async def run() -> bytes:
        reader = LineReader()
        reader.take_line = lambda line: bool(taken.append(line)) or True
        asyncio.get_running_loop().call_later(0.5, reader.feed_eof)  # of a reader that lost it
        reader.feed_data(b"hello\n")  # nobody waits
        assert await reader.readuntil() == b"hello\n"
        reading = asyncio.create_task(reader.read(100))
        await asyncio.sleep(0)
        reader.feed_data(b"piece")  # whoever waits is woken, and has not read yet
        reader.feed_data(b"\n")
        reader.feed_data(b"late\n")
        return await reading

    assert asyncio.run(run()) == b"piece\nlate\n"
    assert taken == []
