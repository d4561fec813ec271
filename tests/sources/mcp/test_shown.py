from toolcrib.sources.mcp.shown import shown, shown_end


def test_what_is_not_printable_goes():
    assert shown("a\x1b[31mb\u202e\n\tc\x00", 50) == "a [31mb c"


def test_what_is_too_long_is_cut():
    assert shown("abcdef", 4) == "abc…"
    assert shown_end("abcdef", 4) == "…def"
