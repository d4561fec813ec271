from pathlib import PurePosixPath

import pytest

from training.locales import language_of, placed


@pytest.mark.parametrize(
    ("path", "hole", "language"),
    [
        ("i18n/zh-CN.json", "i18n/{}.json", "zh"),
        ("i18n/zh-Hant.json", "i18n/{}.json", "zht"),
        ("i18n/en.json", "i18n/{}.json", "en"),
        ("src/messagebundle_zh_CN.properties", "src/messagebundle_{}.properties", "zh"),
        ("src/messagebundle.properties", "src/messagebundle_{}.properties", "en"),
        ("locale/pt_BR/LC_MESSAGES/django.po", "locale/{}/LC_MESSAGES/django.po", "pt"),
        ("static/zh-Hans-0a12bc34de.json", "static/{}.json", "zh"),
        ("static/zh-Hant-0a12bc34de.json", "static/{}.json", "zht"),
    ],
)
def test_a_path_says_its_language_and_what_it_shares_with_others(path, hole, language):
    assert placed(PurePosixPath(path)) == (hole, language)


def test_what_names_no_language_is_left_alone():
    assert placed(PurePosixPath("src/index.js")) is None
    assert not language_of("index")
