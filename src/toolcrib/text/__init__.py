"""Text: words and terms for search, tokens for budgets, and what is safe to read or show.

    text → words → without_stopwords → terms, stems        (what an index stores and looks up)
    text → find_hidden, without_hidden, Redactor            (what a reader or a model may see)

For search:
    analyzer       text to words, words to terms and stems: the one tokeniser of every index
    stopwords      English stop words and Chinese particles
    politeness     the phrases around a request, taken off
    traditional    traditional Chinese characters as simplified ones
    language       which language a text is in
    glossary       what a term is called in another language, and the files that say so
    colloquial     Chinese verbs as people say them, in their plain form
    products       the products that a text names, by a list with their other names
    verbs          what the verbs of requests and names do: families, in every form
    speller        misspelt words of a request, and what they mean; `misspelling` says how likely,
                   `word_lists` has the words that come with Toolcrib
    spelling       typos and the nearest names, and the endings of messages that name them
For models:
    tokens         how many model tokens a text costs, counted or estimated
For safety:
    hidden_text    what a model sees in a text and a reader does not: found, shown, taken out
    redactor       takes secrets out of what a server says
    pattern        regular expressions in linear time

Everything here is a function of its text: nothing knows of tools, servers or settings. JSON is in
`toolcrib.strict_json`. Names of tools are made and matched in `toolcrib.names`.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.text.analyzer import fold, is_unspaced, stems, terms, without_stopwords, words
    from toolcrib.text.colloquial import plain_verbs
    from toolcrib.text.glossary import Glossary, Lexicon, load_glossary
    from toolcrib.text.hidden_text import (
        find_hidden,
        may_have_hidden,
        printable,
        show_hidden,
        without_hidden,
    )
    from toolcrib.text.language import LANGUAGE_NAMES, Language, detect_language
    from toolcrib.text.pattern import BadPattern, compile_pattern
    from toolcrib.text.politeness import without_politeness, without_wrapping
    from toolcrib.text.products import Mention, Product, our_products, products_digest
    from toolcrib.text.redactor import REDACTED, SHORTEST_SECRET, Redactor
    from toolcrib.text.speller import CorrectedText, Correction, CountedWords, Speller
    from toolcrib.text.spelling import (
        MOST_EDITS,
        did_you_mean,
        edits_of,
        likeness,
        list_nearest,
        nearest_names,
        typos,
    )
    from toolcrib.text.stopwords import CHINESE_PARTICLES, ENGLISH_STOPWORDS
    from toolcrib.text.tokens import (
        FEWEST_CHARACTERS_A_TOKEN,
        TokenCounter,
        estimate_tokens,
        forget_vocabulary,
        most_tokens,
        token_counter,
        tool_definition,
    )
    from toolcrib.text.traditional import simplified
    from toolcrib.text.verbs import Verb, begins_object, our_verbs
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "analyzer": ("fold", "is_unspaced", "stems", "terms", "without_stopwords", "words"),
            "colloquial": ("plain_verbs",),
            "glossary": ("Glossary", "Lexicon", "load_glossary"),
            "hidden_text": (
                "find_hidden",
                "may_have_hidden",
                "printable",
                "show_hidden",
                "without_hidden",
            ),
            "language": ("LANGUAGE_NAMES", "Language", "detect_language"),
            "pattern": ("BadPattern", "compile_pattern"),
            "politeness": ("without_politeness", "without_wrapping"),
            "products": ("Mention", "Product", "our_products", "products_digest"),
            "redactor": ("REDACTED", "SHORTEST_SECRET", "Redactor"),
            "speller": ("CorrectedText", "Correction", "CountedWords", "Speller"),
            "spelling": (
                "MOST_EDITS",
                "did_you_mean",
                "edits_of",
                "likeness",
                "list_nearest",
                "nearest_names",
                "typos",
            ),
            "stopwords": ("CHINESE_PARTICLES", "ENGLISH_STOPWORDS"),
            "tokens": (
                "FEWEST_CHARACTERS_A_TOKEN",
                "TokenCounter",
                "estimate_tokens",
                "forget_vocabulary",
                "most_tokens",
                "token_counter",
                "tool_definition",
            ),
            "traditional": ("simplified",),
            "verbs": ("Verb", "begins_object", "our_verbs"),
        },
    )
