import pytest

from tests.dashboard.asking import Clock
from toolcrib.dashboard import login
from toolcrib.dashboard.login import ACT_S, LINK_S, VIEW_S, BrowserSession, Logins, Notice


def session_of(logins: Logins) -> BrowserSession:
    cookie = logins.log_in(logins.new_link())
    assert cookie
    session = logins.session(cookie)
    assert session
    return session


@pytest.mark.plan(94)
def test_a_link_is_good_once_and_for_a_minute():
    clock = Clock()
    logins = Logins(clock)
    secret = logins.new_link()
    assert logins.log_in("made up") is None
    assert logins.log_in(secret)
    assert logins.log_in(secret) is None
    late = logins.new_link()
    clock.now += LINK_S
    assert logins.log_in(late) is None


@pytest.mark.plan(94)
def test_a_session_acts_for_minutes_and_looks_for_hours():
    clock = Clock()
    logins = Logins(clock)
    cookie = logins.log_in(logins.new_link())
    assert cookie
    session = logins.session(cookie)
    assert session
    assert session.acting_s == ACT_S
    clock.now += ACT_S
    assert session.acting_s == 0
    assert logins.session(cookie) is session
    clock.now += VIEW_S - ACT_S
    assert logins.session(cookie) is None
    assert not logins.is_needed


def test_a_link_is_not_a_cookie_and_a_cookie_is_no_link():
    logins = Logins(Clock())
    secret = logins.new_link()
    assert logins.session(secret) is None
    cookie = logins.log_in(secret)
    assert cookie
    assert logins.log_in(cookie) is None


def test_links_and_sessions_are_bounded_and_the_oldest_makes_room():
    logins = Logins(Clock())
    links = [logins.new_link() for _ in range(login.MOST_LINKS + 1)]
    assert logins.log_in(links[0]) is None
    assert logins.log_in(links[-1])
    cookies = [logins.log_in(logins.new_link()) or "" for _ in range(login.MOST_SESSIONS)]
    assert all(map(logins.session, cookies))
    logins.log_in(logins.new_link())
    assert logins.session(cookies[0]) is None


@pytest.mark.plan(96)
def test_a_token_is_for_one_session_one_action_and_one_subject():
    logins = Logins(Clock())
    mine, other = session_of(logins), session_of(logins)
    token = mine.token("allow_call", ["a", "b"])
    assert mine.is_token(token, "allow_call", ["a", "b"])
    assert not other.is_token(token, "allow_call", ["a", "b"])
    for action, subject in (
        ("deny_call", ["a", "b"]),
        ("allow_call", ["ab"]),
        ("allow_call", ["a", "c"]),
        ("allow_call", ["a"]),
        ("allow_call", ["a", "b", ""]),
    ):
        assert not mine.is_token(token, action, subject)
    assert not mine.is_token("\ud800é", "allow_call", ["a", "b"])


def test_a_notice_is_told_again_and_not_for_ever():
    session = session_of(Logins(Clock()))
    number = session.note(Notice("done"))
    assert session.notice(str(number)) == Notice("done")
    assert session.notice("x") is None
    for _ in range(login.MOST_NOTICES):
        session.note(Notice("more"))
    assert session.notice(str(number)) is None


def test_the_clock_counts_on():
    assert login.waking_clock() <= login.waking_clock()
