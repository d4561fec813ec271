import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text import without_politeness, without_wrapping


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("can you please show me the open issues, thanks", "show me the open issues"),
        ("Hi there! I'd like to book a table for two pls.", "book a table for two"),
        ("could you help me translate this for me thank you so much", "translate this"),
        ("i was wondering if you could check my mail", "check my mail"),
        ("would you mind restarting the server when you get a chance", "restarting the server"),
        ("gimme a strong password asap", "a strong password"),
        ("麻烦帮我把文件读出来好吗谢谢", "文件读出来"),
        ("给我瞅瞅天气呗", "瞅瞅天气"),
        ("請幫我發送消息", "发送消息"),
        ("把日期改成周五，可以吗？", "日期改成周五"),
        ("I can't find my keys", "I can't find my keys"),
    ],
)
def test_a_request_is_taken_out_of_its_politeness(asked: str, meant: str):
    assert without_wrapping(asked) == meant


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "please",
        "hi",
        "谢谢",
        "help",
        "like this post",
        "let me know when it is done",
        "sort by likes",
        "能源价格",
        "请求",
    ],
)
def test_what_is_no_politeness_or_nothing_else_stays(asked: str):
    assert without_wrapping(asked) == asked


def test_politeness_alone_leaves_what_is_wanted_and_how_it_is_asked():
    asked = "Hi, can you tell me how I delete a branch? Thanks"
    assert without_politeness(asked) == "tell me how I delete a branch"
    assert without_politeness("i need to see it") == "i need to see it"
    assert without_politeness("帮我看看怎么删除分支吧，谢谢") == "看看怎么删除分支"


@given(st.text(max_size=200) | st.text("please can you thanks 麻烦谢谢,.", max_size=200))
def test_a_request_is_never_emptied(asked: str):
    assert bool(without_wrapping(asked)) == bool(asked)
