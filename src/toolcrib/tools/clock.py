"""Times, time zones and durations. Times are ISO 8601 text, such as `2026-03-01T09:30`."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypedDict
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from toolcrib.text import nearest_names


class ClockTime(TypedDict):
    """One moment as people and programs write it."""

    time: str
    timezone: str
    weekday: str
    unix: float


class Duration(TypedDict):
    """The time from one moment to another; all are negative when the second is earlier."""

    days: float
    hours: float
    seconds: float


def current_time(timezone: str = "UTC") -> ClockTime:
    """Tell the date, the time and the weekday now.

    Args:
        timezone: An IANA time zone, such as `Asia/Shanghai` or `America/New_York`.
    """
    return _moment(datetime.now(_zone(timezone)))


def convert_time(time: str, to_timezone: str, from_timezone: str = "UTC") -> ClockTime:
    """Convert a time from one time zone to another.

    Args:
        time: An ISO 8601 time. An offset that it carries wins over `from_timezone`.
        to_timezone: The IANA time zone to convert to.
        from_timezone: The IANA time zone that the time is in.
    """
    return _moment(_parse(time, from_timezone).astimezone(_zone(to_timezone)))


def shift_time(
    time: str, days: float = 0, hours: float = 0, minutes: float = 0, timezone: str = "UTC"
) -> ClockTime:
    """Tell the time that is some days, hours and minutes after, or before, a given one.

    A day is 24 hours, also where the clocks change.

    Args:
        time: An ISO 8601 time or date.
        days: Days to add; negative to go back.
        hours: Hours to add; negative to go back.
        minutes: Minutes to add; negative to go back.
        timezone: The IANA time zone of the time, where it carries no offset.
    """
    start = _parse(time, timezone)
    later = start.astimezone(UTC) + timedelta(days=days, hours=hours, minutes=minutes)
    return _moment(later.astimezone(start.tzinfo))


def time_between(start: str, end: str, timezone: str = "UTC") -> Duration:
    """Tell how much time lies between two times or dates, in days, hours and seconds.

    Args:
        start: The ISO 8601 time or date to count from.
        end: The ISO 8601 time or date to count to.
        timezone: The IANA time zone of those that carry no offset.
    """
    seconds = (_utc(end, timezone) - _utc(start, timezone)).total_seconds()
    return Duration(days=seconds / 86400, hours=seconds / 3600, seconds=seconds)


def _utc(time: str, timezone: str) -> datetime:
    return _parse(time, timezone).astimezone(UTC)


def _parse(time: str, timezone: str) -> datetime:
    try:
        parsed = datetime.fromisoformat(time)
    except ValueError as error:
        raise ValueError(f"{time!r} is not an ISO 8601 time; write 2026-03-01T09:30") from error
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=_zone(timezone))


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        near = ", ".join(nearest_names(name, sorted(available_timezones()))) or "Europe/London"
        raise ValueError(f"there is no time zone {name!r}; did you mean: {near}?") from error


def _moment(time: datetime) -> ClockTime:
    return ClockTime(
        time=time.isoformat(timespec="seconds"),
        timezone=str(time.tzinfo),
        weekday=time.strftime("%A"),
        unix=time.timestamp(),
    )
