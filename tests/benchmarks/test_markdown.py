"""Tables are Markdown, and a page keeps what stands around them."""

from pathlib import Path

import pytest

from benchmarks.markdown import NoMarks, put, table


def test_a_heading_may_put_its_column_to_the_right():
    assert table(["set", ">R@5"], [["a", "1.0"]]) == ("| set | R@5 |\n| --- | --: |\n| a | 1.0 |")


def test_what_stands_between_the_marks_is_replaced_and_nothing_else(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("# Page\n<!-- x: begin -->\nold\n<!-- x: end -->\nend\n", encoding="utf-8")
    put(page, "x", "new")
    put(page, "x", "newer")
    assert page.read_text(encoding="utf-8") == (
        "# Page\n<!-- x: begin -->\nnewer\n<!-- x: end -->\nend\n"
    )


def test_a_page_without_the_marks_is_left_alone(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("# Page\n<!-- x: begin -->\n", encoding="utf-8")
    with pytest.raises(NoMarks, match="<!-- x: begin --> and <!-- x: end -->"):
        put(page, "x", "new")
    assert page.read_text(encoding="utf-8") == "# Page\n<!-- x: begin -->\n"
