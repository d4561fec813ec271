"""Tables of a few columns. On a phone a row is a small card, with the name of each column in it."""

from collections.abc import Sequence

import htpy as h

NUMBER = ">"
"""A column whose name begins so has numbers."""


def data_table(columns: Sequence[str], rows: h.Node, caption: str) -> h.Element:
    """A table of rows that `data_row` made for these columns. `caption` is for a screen reader."""
    return h.table(".data")[
        h.caption(".unseen")[caption],
        h.thead[
            h.tr[[h.th(scope="col", class_=_kind(each))[each.lstrip(NUMBER)] for each in columns]]
        ],
        h.tbody[rows],
    ]


def data_row(columns: Sequence[str], *cells: h.Node) -> h.Element:
    """A row: the first cell is what it is about."""
    first, *rest = cells
    named = zip(columns[1:], rest, strict=True)
    return h.tr[
        h.th(scope="row")[first],
        [h.td(class_=_kind(name), data_label=name.lstrip(NUMBER))[cell] for name, cell in named],
    ]


def _kind(column: str) -> str | None:
    return "number-cell" if column.startswith(NUMBER) else None
