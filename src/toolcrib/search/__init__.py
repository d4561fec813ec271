"""A question becomes a short ranked list, or the reason why nothing fits.

    query → parse_query → correct → query_variants → look up in each arm → fuse → second look
          → confidence, or abstain → cut → limit → Answer

query_syntax   the form of a query: free text, `select:`, `+word`, `/pattern/`, or nothing
variants       one question in several wordings with weights
task_parts     the parts of a task that asks for several things
languages      into which languages it is translated, and how much that counts
name_mentions  tools that the query names outright
facts          what is known of every entry at once: its products, its languages
products       products and servers that a query names, and which tools are theirs
verbs          families of verbs, their opposites, those that destroy; questions to the world
pipeline       `Search`: all steps for one free text, kept in a `SearchTrace`
zscore, rrf    two formulas of fusion; `fusion` chooses
keywords       fixed points for words in names and descriptions, instead of arms and fusion
second_look    the first matches, put in order by how well they answer every word
confidence     the chance that a hit fits; below the threshold the answer abstains
rankings       order, boost by use, interleave, autocut
answer         `answer_query`: from a query in any form to an `Answer`
explanation    `explain`: the same steps, told for one capability
ranking_explanation  `explain_ranking`: the same steps, told for all that was ranked
alternatives   other settings for one search, to compare with: a closed list

Search is pure: entries, a view of the index and `SearchRules` come in as arguments. It reads no
settings, no file and no clock. What a caller may not see is in `Search.hidden` before anything is
ranked (`toolcrib.access` says what that is). The arms themselves are in `toolcrib.index`.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.search.alternatives import ALTERNATIVES, AS_SET, Alternative
    from toolcrib.search.answer import answer_query
    from toolcrib.search.explanation import (
        Explanation,
        Wording,
        explain,
        explanation_of_json,
    )
    from toolcrib.search.facts import PoolFacts, StoredFacts, facts_of, facts_version
    from toolcrib.search.name_mentions import is_identifier
    from toolcrib.search.pipeline import Search, no_look
    from toolcrib.search.products import (
        NamedProduct,
        PoolProducts,
        named_products,
        names_absent,
        product_evidence,
    )
    from toolcrib.search.query_syntax import FreeQuery, SelectQuery, parse_query
    from toolcrib.search.ranking_explanation import (
        MOST_CANDIDATES,
        Candidate,
        RankingExplanation,
        SearchedPart,
        SearchedVariant,
        explain_ranking,
    )
    from toolcrib.search.rules import ArmWeights, SearchRules
    from toolcrib.search.task_parts import MOST_SUBQUERIES, subqueries
    from toolcrib.search.variants import plain_words
    from toolcrib.search.verbs import asks_for, is_destructive, opposite_family, verb_family
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "alternatives": ("ALTERNATIVES", "AS_SET", "Alternative"),
            "answer": ("answer_query",),
            "explanation": ("Explanation", "Wording", "explain", "explanation_of_json"),
            "facts": ("PoolFacts", "StoredFacts", "facts_of", "facts_version"),
            "name_mentions": ("is_identifier",),
            "pipeline": ("Search", "no_look"),
            "products": (
                "NamedProduct",
                "PoolProducts",
                "named_products",
                "names_absent",
                "product_evidence",
            ),
            "query_syntax": ("FreeQuery", "SelectQuery", "parse_query"),
            "ranking_explanation": (
                "MOST_CANDIDATES",
                "Candidate",
                "RankingExplanation",
                "SearchedPart",
                "SearchedVariant",
                "explain_ranking",
            ),
            "rules": ("ArmWeights", "SearchRules"),
            "task_parts": ("MOST_SUBQUERIES", "subqueries"),
            "variants": ("plain_words",),
            "verbs": ("asks_for", "is_destructive", "opposite_family", "verb_family"),
        },
    )
