from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.tools.web import html_to_text

PAGE = """<!doctype html><html><head><title>News &amp; more</title>
<style>p {color: red}</style><script>alert("<p>no</p>")</script></head>
<body><nav><a href="/">Home</a></nav><h1>Big
   news</h1><p>First <b>bold</b>&nbsp;text<br>second line</p><ul><li>one<li>two</ul>
<noscript>enable it</noscript></body></html>"""


def test_a_page_reads_as_its_reader_sees_it():
    assert html_to_text(PAGE).splitlines() == [
        "News & more",
        "Home",
        "Big news",
        "First bold text",
        "second line",
        "one",
        "two",
    ]


@settings(deadline=None)
@given(st.text(alphabet="<>/!-abp \n&;\"'="))
def test_any_text_is_a_page(html):
    assert "\n\n" not in html_to_text(html)
