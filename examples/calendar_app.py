"""A program whose function is a tool of Toolcrib, as long as it runs and beyond."""

import sys

from toolcrib.app import App

app = App("calendar", launch=[sys.executable, __file__])


@app.tool(permission_kind="write")
def add_event(title: str, day: str) -> str:
    """Put an event into the calendar."""
    return f"{title} is on {day}"


app.run()
