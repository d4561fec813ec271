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
    assert said.description == (
        "Read a file in two lines.\n\nMore about it.\n\nReturns:\n    text: Not a parameter."
    )
    assert said.parameters == {"path": "Where it is, over two lines.", "names": "All of them."}


def test_sphinx_style():
    said = parse_docstring(SPHINX)
    assert said.description == "Read a file.\n\n:returns: Not a parameter."
    assert said.parameters == {"path": "Where it is, over two lines.", "limit": "How much."}


def test_numpy_style():
    said = parse_docstring(NUMPY)
    assert said.description == (
        "Read a file.\n\nReturns\n-------\ntext : str\n    Not a parameter."
    )
    assert said.parameters == {
        "path": "Where it is, over two lines.",
        "width": "How large.",
        "height": "How large.",
    }


WHOLE = """Move a file.

    It is copied first, and
    removed then. Use it for:

    - large files
    - files of others

    Keyword Args:
        path: Where it is.

            On any disk.
    Raises:
        OSError: The disk is full.

        Nothing is lost then.

    Example::

        move("a")
    """


def test_nothing_but_the_parameters_is_left_out():
    said = parse_docstring(WHOLE)
    assert said.description == (
        "Move a file.\n\nIt is copied first, and removed then. Use it for:\n\n"
        "- large files\n- files of others\n\n"
        "Raises:\n    OSError: The disk is full.\n\n    Nothing is lost then.\n\n"
        'Example::\n\n    move("a")'
    )
    assert said.parameters == {"path": "Where it is. On any disk."}


def test_a_role_is_a_word_like_any_other():
    said = parse_docstring(":func:`move` with a copy.\n\n:param path: Where.\n:type path: str")
    assert said.description == ":func:`move` with a copy."
    assert said.parameters == {"path": "Where."}


def test_no_docstring_is_an_empty_one():
    assert parse_docstring(None).description == ""
    assert parse_docstring("").parameters == {}


def test_a_docstring_that_begins_with_its_parameters_has_no_description():
    said = parse_docstring("\n    Args:\n        path: Where.\n    ")
    assert said.description == ""
    assert said.parameters == {"path": "Where."}


def test_prose_with_a_colon_is_no_parameter():
    assert parse_docstring("Sum up.\n\nNote: this is slow.\nresult: none.").parameters == {}


@settings(deadline=None)
@given(st.text(alphabet=" \n\t:-*()aArgsParmet_ 文"))
def test_any_text_reads_as_a_docstring(text):
    said = parse_docstring(text)
    assert said.description == said.description.strip("\n")
    assert all(name and described for name, described in said.parameters.items())
