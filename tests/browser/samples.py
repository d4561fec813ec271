"""The servers that are looked at: tools as people have them, with texts of our own."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class SampleServer(NamedTuple):
    """Its tools by name, as `sample_server` reads them, and which of them only read."""

    tools: Mapping[str, Mapping[str, Any]]
    permission: Mapping[str, str]


def tool(description: str, says: str = "Done.", **properties: str) -> Mapping[str, Any]:
    """A tool whose arguments are words, each with what it is."""
    fields = {name: {"type": "string", "description": what} for name, what in properties.items()}
    schema = {"type": "object", "properties": fields}
    return {"description": description, "says": says, "inputSchema": schema}


MAIL = SampleServer(
    {
        "search_mail": tool("Search the mailbox for messages.", "2 messages", query="The words"),
        "read_mail": tool("Read one message.", "Dear all, ...", id="The message"),
        "send_mail": tool(
            "Send a mail to somebody.",
            "Sent.",
            to="Who gets it",
            subject="Its subject",
            body="Its text",
        ),
        "archive_mail": tool("Move a message to the archive.", "Archived.", id="The message"),
    },
    {"search_*": "read", "read_*": "read", "*": "write"},
)
BILLING = SampleServer(
    {
        "list_invoices": tool("List the invoices of a customer.", "INV-7", customer="Who"),
        "create_invoice": tool(
            "Create an invoice for a customer.", "INV-8", customer="Who", amount="How much"
        ),
        "refund_payment": tool(
            "Pay a customer's money back.", "Refunded.", invoice="The invoice", amount="How much"
        ),
    },
    {"list_*": "read", "refund_*": "dangerous", "*": "write"},
)
CALENDAR = SampleServer(
    {
        "find_slot": tool("Find a free hour for a meeting.", "Tuesday, 10:00", people="Who"),
        "book_meeting": tool("Put a meeting into the calendar.", "Booked.", title="Its name"),
    },
    {"find_*": "read", "*": "write"},
)
NOTES = SampleServer(
    {
        "search_notes": tool("Search the notes for words.", "3 notes", query="The words"),
        "read_note": tool("Read one note.", "Buy milk", id="The note"),
        "write_note": tool("Write a note.", "Written.", text="The text"),
    },
    {"search_*": "read", "read_*": "read", "*": "write"},
)
VERBS = {
    "create": "Create a new {}.",
    "find": "Find {}s by words in them.",
    "update": "Change the fields of a {}.",
    "archive": "Put a {} into the archive.",
}


def many(*nouns: str) -> SampleServer:
    """A server as large ones are: each verb with each noun."""
    tools = {
        f"{verb}_{noun}": tool(words.format(noun.replace("_", " ")), name="Which one")
        for noun in nouns
        for verb, words in VERBS.items()
    }
    return SampleServer(tools, {"find_*": "read", "*": "write"})


MORE: Mapping[str, SampleServer] = {
    "crm": many("contact", "company", "deal", "campaign", "lead", "call_note", "segment"),
    "shop": many("product", "order", "coupon", "shipment", "return", "supplier", "review"),
    "tickets": many("ticket", "macro", "queue", "escalation", "satisfaction_survey"),
}
"""For pictures: with few tools nobody needs a search."""
SERVERS: Mapping[str, SampleServer] = {
    "billing": BILLING,
    "calendar": CALENDAR,
    "mail": MAIL,
    "notes": NOTES,
}
