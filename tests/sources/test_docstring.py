from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.sources.docstring import parse_docstring

GOOGLE = """Read a file
    in two lines.

    More about it.

    Args:
        path (str, optional): Where it is,
            over two lines.
        *names: All of them.
        silent:

    Returns:
        text: Not a parameter.
    """

SPHINX = """Read a file.
    :param path: Where it is,
        over two lines.
    :param int limit: How much.
    :returns: Not a parameter.
    """

NUMPY = """Read a file.

    Parameters
    ----------
    path : str
        Where it is,
        over two lines.
    width, height : int, default 3
        How large.

    Returns
    -------
    text : str
        Not a parameter.
    """


def test_google_style():
    said = parse_docstring(GOOGLE)
    assert said.summary == "Read a file in two lines."
    assert said.parameters == {"path": "Where it is, over two lines.", "names": "All of them."}


def test_sphinx_style():
    said = parse_docstring(SPHINX)
    assert said.summary == "Read a file."
    assert said.parameters == {"path": "Where it is, over two lines.", "limit": "How much."}


def test_numpy_style():
    said = parse_docstring(NUMPY)
    assert said.summary == "Read a file."
    assert said.parameters == {
        "path": "Where it is, over two lines.",
        "width": "How large.",
        "height": "How large.",
    }


def test_no_docstring_is_an_empty_one():
    assert parse_docstring(None).summary == ""
    assert parse_docstring("").parameters == {}


def test_a_docstring_that_begins_with_its_parameters_has_no_summary():
    said = parse_docstring("\n    Args:\n        path: Where.\n    ")
    assert said.summary == ""
    assert said.parameters == {"path": "Where."}


def test_prose_with_a_colon_is_no_parameter():
    assert parse_docstring("Sum up.\n\nNote: this is slow.\nresult: none.").parameters == {}


@settings(deadline=None)
@given(st.text(alphabet=" \n\t:-*()aArgsParmet_ 文"))
def test_any_text_reads_as_a_docstring(text):
    said = parse_docstring(text)
    assert "\n" not in said.summary
    assert all(name and described for name, described in said.parameters.items())
