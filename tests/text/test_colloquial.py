import pytest

from toolcrib.text import plain_verbs


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("截个图", "截图"),
        ("发个邮件", "发邮件"),
        ("发封邮件给老王", "发邮件给老王"),
        ("建个会", "建会"),
        ("写一篇文章", "写文章"),
        ("画张图", "画图"),
        ("放首歌", "放歌"),
        ("看看天气", "看天气"),
        ("查一查", "查"),
        ("看了看", "看"),
        ("整理整理", "整理"),
        ("查一下天气", "查天气"),
        ("看下日历", "看日历"),
        ("汇总一下", "汇总"),
    ],
)
def test_a_verb_is_put_into_its_plain_form(said: str, plain: str):
    assert plain_verbs(said) == plain


@pytest.mark.parametrize(
    "said",
    [
        "",
        "take a look",
        "这个图",
        "妹妹",
        "查个人信息",
        "找张三",
        "下载文件",
        "看看",
        "空调调到26度",
        "搜几篇论文",
    ],
)
def test_what_only_looks_like_it_stays(said: str):
    assert plain_verbs(said) == {"看看": "看"}.get(said, said)


def test_what_belongs_to_the_object_stays():
    assert plain_verbs("看看首页") == "看首页"
