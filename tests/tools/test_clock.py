from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.tools.clock import convert_time, current_time, shift_time, time_between


def test_now_is_now_in_the_zone_asked_for():
    moment = current_time("Asia/Shanghai")
    assert abs(moment["unix"] - datetime.now(UTC).timestamp()) < 60
    assert moment["time"].endswith("+08:00")
    assert moment["timezone"] == "Asia/Shanghai"


def test_a_time_is_converted_between_zones():
    moment = convert_time("2026-07-01T12:00", "Asia/Tokyo", "Europe/Berlin")
    assert moment["time"] == "2026-07-01T19:00:00+09:00"
    assert moment["weekday"] == "Wednesday"


def test_an_offset_in_the_time_wins():
    moment = convert_time("2026-07-01T12:00+05:00", "UTC", "Europe/Berlin")
    assert moment["time"] == "2026-07-01T07:00:00+00:00"


def test_a_time_is_shifted_forth_and_back():
    assert shift_time("2024-02-28", days=1)["time"] == "2024-02-29T00:00:00+00:00"
    assert shift_time("2024-03-01T01:00", hours=-2, minutes=-30)["time"].startswith(
        "2024-02-29T22:30"
    )


def test_a_day_is_24_hours_where_the_clocks_change():
    moment = shift_time("2026-03-28T12:00", days=1, timezone="Europe/Berlin")
    assert moment["time"] == "2026-03-29T13:00:00+02:00"


def test_the_time_between_two_dates():
    between = time_between("2026-01-01", "2026-01-03T12:00")
    assert between == {"days": 2.5, "hours": 60.0, "seconds": 216000.0}
    assert time_between("2026-01-03", "2026-01-01")["days"] == -2


@settings(deadline=None)
@given(st.datetimes(datetime(1980, 1, 1), datetime(2080, 1, 1)), st.integers(-9999, 9999))  # noqa: DTZ001
def test_shifting_by_what_lies_between_leads_there(start, minutes):
    end = start + timedelta(minutes=minutes)
    between = time_between(start.isoformat(), end.isoformat())
    assert between["seconds"] == minutes * 60
    shifted = shift_time(start.isoformat(), minutes=minutes)
    assert shifted["time"].startswith(end.isoformat(timespec="seconds"))


@pytest.mark.parametrize("name", ["Asia/Shangai", "../../etc/passwd", "", "/etc/localtime", "a\0b"])
def test_an_unknown_zone_is_refused_with_the_nearest(name):
    with pytest.raises(ValueError, match=r"no time zone .*did you mean: \w"):
        current_time(name)


def test_a_text_that_is_no_time_is_refused():
    with pytest.raises(ValueError, match="'tomorrow' is not an ISO 8601 time"):
        shift_time("tomorrow")
