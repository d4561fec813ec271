import pytest
from pydantic import BaseModel

from toolcrib.errors import DeclarationError
from toolcrib.sources.declaration_file import Tags, Text, read_front_matter


class Head(BaseModel):
    name: Text
    tags: Tags = ()


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        path = tmp_path / "file.md"
        path.write_bytes(text.encode())
        return read_front_matter(path, Head)

    return read_text


def test_the_head_is_checked_and_the_body_is_what_is_below(read):
    head, body = read("---\nname: a\nother: ignored\n---\n\n# Title\n\n---\n\nEnd\n")
    assert head == Head(name="a")
    assert body == "# Title\n\n---\n\nEnd"


def test_line_ends_of_windows_and_spaces_after_the_fence_do_not_matter(read):
    head, body = read("\ufeff--- \r\nname: a\r\n---\t\r\nText\r\n")
    assert (head.name, body) == ("a", "Text")


@pytest.mark.parametrize("tags", ["[a, b]", "a, b", "\n  - a\n  - b"])
def test_tags_are_a_list_or_one_text(read, tags):
    assert read(f"---\nname: a\ntags: {tags}\n---")[0].tags == ("a", "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"file\.md:1: there is no front matter"),
        ("# Title\n---\n", r"file\.md:1: there is no front matter"),
        ("---\nname: a\n", r"file\.md:1: the front matter does not end"),
        ("---\ntags: []\n---", r"file\.md:2: name: is missing; add it"),
        ("---\n---", r"file\.md:2: name: is missing"),
        ("---\n- a\n---", r"file\.md:2: "),
        ("---\ntags: []\nname: ' '\n---", r"file\.md:3: name: .*at least 1"),
        ("---\ntags: []\nname: 5\n---", r"file\.md:3: name: .*string"),
        ("---\ntags: []\nname: a: b\n---", r"file\.md:3: mapping values.*quotes"),
    ],
)
def test_a_mistake_is_named_with_its_line(read, text, message):
    with pytest.raises(DeclarationError, match=message):
        read(text)
