"""What use teaches: what goes with what, and which words led where.

    a search is answered ─┐
                          ├→ conversations → pairs and lessons → counts, in memory → the store
    a call goes well ─────┘
    counts + declared links → hints on hits, and a small boost of scores (`search.learn`)

`history`        `UseHistory`: hears of calls and searches, and writes what is new once a minute
`conversations`  what one caller did of late: which calls and searches belong together
`counts`         pairs and lessons in memory, ready to be looked up
`hints`          what a tool is used with, from declared links and from counts
`advice`         `UseAdvice`: the way from one search to all of this, and back
`recognition`    which words of the catalog led to which tool, for `toolcrib eval init`

Nothing is kept of who asked, what was asked or with which arguments something was called: a pair
is two names and a count, a lesson is the hash of a word, a name and a weight. Those rows are
defined in `toolcrib.store`. Lessons are kept by rights, so that nobody learns from callers who may
see more; old ones fade.

Whoever calls or searches never waits for a file here, and never fails because of one.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.uses.advice import FactsOf, UseAdvice
    from toolcrib.uses.hints import UseHints, unresolved_links
    from toolcrib.uses.history import StoreOpener, UseHistory
    from toolcrib.uses.recognition import LedWord, words_that_led
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "advice": ("FactsOf", "UseAdvice"),
            "hints": ("UseHints", "unresolved_links"),
            "history": ("StoreOpener", "UseHistory"),
            "recognition": ("LedWord", "words_that_led"),
        },
    )
