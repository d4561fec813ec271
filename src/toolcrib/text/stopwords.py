"""Words that carry no meaning of their own."""

ENGLISH_STOPWORDS = frozenset(
    """
    a about am an and any are as at be been being both but by can could did do does doing each
    for from had has have having he her here hers him his how i if in into is it its just let
    many may me might more most much must my need of on or our ours please shall she should so
    some such than that the their them then there these they this those to too up us very want
    was we were what when where which while who whom whose why will with would you your yours
    """.split(),
)

# Characters that hold a Chinese sentence together and say nothing alone.
CHINESE_PARTICLES = frozenset(
    "的了是在和与及或个一下对为把被给从到向于以这那其之所而且着过吗呢吧啊呀么我你您他她它们"
)
