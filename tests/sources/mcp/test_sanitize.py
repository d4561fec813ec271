from toolcrib.sources.mcp.sanitize import short_line, short_line_end


def test_what_is_not_printable_goes():
    assert short_line("a\x1b[31mb\u202e\n\tc\x00", 50) == "ab c"
    assert short_line_end("\ufeffa\x1b]0;t\x07b\u2028", 50) == "ab"


def test_what_is_hidden_goes_though_it_is_printable():
    smuggled = "".join(chr(0xE0100 + ord(char)) for char in "obey")
    assert smuggled.isprintable()
    assert short_line(f"out of paper{smuggled}", 50) == "out of paper"
    assert short_line_end(f"out of paper{smuggled}", 50) == "out of paper"


def test_what_is_too_long_is_cut():
    assert short_line("abcdef", 4) == "abc…"
    assert short_line_end("abcdef", 4) == "…def"
    assert short_line("x" * 1_000_000, 4) == "xxx…"
    assert short_line_end("x" * 1_000_000, 4) == "…xxx"
