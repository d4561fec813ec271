"""Text: words and terms for search, tokens for budgets, and what is safe to read or show.

Everything here is a function of its text; nothing knows of tools, servers or settings.

    text → words → without_stopwords → terms, stems        (what an index stores and looks up)

For search:
    analyzer       text to words, words to terms and stems: the one tokeniser of every index
    stopwords      English stop words, Chinese particles, and polite phrases around a request
    traditional    traditional Chinese characters as simplified ones
    language       which language a text is in
    glossary       what a term is called in another language; glossary_file reads such files
    spelling       typos and the nearest names, for "did you mean"
For models:
    tokens         how many model tokens a text costs, counted or estimated
    pages          a long text in pages of so many tokens
    line_search    lines of a long text that fit, as grep shows them
For safety:
    hidden_text    what a model sees in a text and a reader does not
    redactor       takes secrets out of what a server says
    pattern        regular expressions in linear time
    strict_json    one spelling of a JSON value, and reading it without two meanings

It is not the place of messages or of anything that is shown in one place only.
"""

from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.text.analyzer import fold, is_unspaced, stems, terms, without_stopwords, words
    from toolcrib.text.glossary import Glossary, Lexicon, load_glossary
    from toolcrib.text.hidden_text import find_hidden, printable, show_hidden, without_hidden
    from toolcrib.text.language import LANGUAGE_NAMES, Language, detect_language
    from toolcrib.text.line_search import LineMatch, as_grep, find_lines
    from toolcrib.text.pages import line_count, page_at, page_starts, size_in_words
    from toolcrib.text.pattern import BadPattern, compile_pattern
    from toolcrib.text.redactor import REDACTED, SHORTEST_SECRET, Redactor
    from toolcrib.text.spelling import (
        MOST_EDITS,
        did_you_mean,
        likeness,
        list_nearest,
        nearest_names,
        typos,
    )
    from toolcrib.text.stopwords import (
        ENGLISH_STOPWORDS,
        without_wrapping,
    )
    from toolcrib.text.strict_json import (
        MOST_JSON_VALUES,
        NotJson,
        canonical_json,
        check_json_size,
        has_more_json_values,
        json_deeper_than,
        json_digest,
        parse_strictly,
        plain_json,
        read_json,
    )
    from toolcrib.text.tokens import (
        TokenCounter,
        estimate_tokens,
        most_tokens,
        token_counter,
        tool_definition,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "analyzer": ("fold", "is_unspaced", "stems", "terms", "without_stopwords", "words"),
            "glossary": ("Glossary", "Lexicon", "load_glossary"),
            "hidden_text": ("find_hidden", "printable", "show_hidden", "without_hidden"),
            "language": ("LANGUAGE_NAMES", "Language", "detect_language"),
            "line_search": ("LineMatch", "as_grep", "find_lines"),
            "pages": ("line_count", "page_at", "page_starts", "size_in_words"),
            "pattern": ("BadPattern", "compile_pattern"),
            "redactor": ("REDACTED", "SHORTEST_SECRET", "Redactor"),
            "spelling": (
                "MOST_EDITS",
                "did_you_mean",
                "likeness",
                "list_nearest",
                "nearest_names",
                "typos",
            ),
            "stopwords": (
                "ENGLISH_STOPWORDS",
                "without_wrapping",
            ),
            "strict_json": (
                "MOST_JSON_VALUES",
                "NotJson",
                "canonical_json",
                "check_json_size",
                "has_more_json_values",
                "json_deeper_than",
                "json_digest",
                "parse_strictly",
                "plain_json",
                "read_json",
            ),
            "tokens": (
                "TokenCounter",
                "estimate_tokens",
                "most_tokens",
                "token_counter",
                "tool_definition",
            ),
        },
    )

__all__ = [
    "ENGLISH_STOPWORDS",
    "LANGUAGE_NAMES",
    "MOST_EDITS",
    "MOST_JSON_VALUES",
    "REDACTED",
    "SHORTEST_SECRET",
    "BadPattern",
    "Glossary",
    "Language",
    "Lexicon",
    "LineMatch",
    "NotJson",
    "Redactor",
    "TokenCounter",
    "as_grep",
    "canonical_json",
    "check_json_size",
    "compile_pattern",
    "detect_language",
    "did_you_mean",
    "estimate_tokens",
    "find_hidden",
    "find_lines",
    "fold",
    "has_more_json_values",
    "is_unspaced",
    "json_deeper_than",
    "json_digest",
    "likeness",
    "line_count",
    "list_nearest",
    "load_glossary",
    "most_tokens",
    "nearest_names",
    "page_at",
    "page_starts",
    "parse_strictly",
    "plain_json",
    "printable",
    "read_json",
    "show_hidden",
    "size_in_words",
    "stems",
    "terms",
    "token_counter",
    "tool_definition",
    "typos",
    "without_hidden",
    "without_stopwords",
    "without_wrapping",
    "words",
]
