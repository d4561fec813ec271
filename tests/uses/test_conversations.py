from toolcrib.store import UseLessonKey, UsePair
from toolcrib.uses.conversations import (
    CALLS_BACK,
    MOST_CONVERSATIONS,
    MOST_OF_ONE_PAIR,
    MOST_PAIRS_OF_ONE,
    PAUSE_S,
    SEARCHES_BACK,
    Conversation,
    Conversations,
    RecentSearch,
)


def searched(*found: str, words: tuple[bytes, ...] = (b"mail",)) -> RecentSearch:
    return RecentSearch(b"everyone", words, frozenset(found))


def test_a_call_makes_a_pair_with_each_of_the_few_before_it():
    conversation = Conversation(0.0)
    names = [f"t{number}" for number in range(CALLS_BACK + 1)]
    for name in names:
        assert conversation.called(name) == [UsePair(b, name) for b in names[: names.index(name)]]
    assert conversation.called("last") == [UsePair(before, "last") for before in names[1:]]


def test_a_tool_makes_no_pair_with_itself():
    conversation = Conversation(0.0)
    conversation.called("a")
    assert conversation.called("a") == []


def test_a_loop_is_told_a_few_times_and_no_more():
    conversation = Conversation(0.0)
    pairs = [pair for _ in range(50) for name in "ab" for pair in conversation.called(name)]
    assert pairs.count(UsePair("a", "b")) == pairs.count(UsePair("b", "a")) == MOST_OF_ONE_PAIR


def test_a_conversation_tells_so_many_pairs_and_no_more():
    conversation = Conversation(0.0)
    pairs = {pair for n in range(MOST_PAIRS_OF_ONE) for pair in conversation.called(f"t{n}")}
    assert len(pairs) <= MOST_PAIRS_OF_ONE + CALLS_BACK


def test_the_last_search_that_found_a_tool_is_the_one_that_led_to_it():
    conversation = Conversation(0.0)
    conversation.searches.extend([searched("send", words=(b"old",)), searched("send", "other")])
    conversation.searches.append(searched("other", words=(b"later",)))
    assert list(conversation.taught("send")) == [UseLessonKey(b"everyone", b"mail", "send")]
    assert list(conversation.taught("send")) == []


def test_a_search_too_far_back_or_without_the_tool_teaches_nothing():
    conversation = Conversation(0.0)
    conversation.searches.append(searched("send"))
    assert list(conversation.taught("read")) == []
    conversation.searches.extend([searched("other")] * SEARCHES_BACK)
    assert list(conversation.taught("send")) == []


def test_conversations_are_those_of_a_caller_and_end_with_a_pause():
    conversations = Conversations()
    first = conversations.of("a", 0.0)
    assert conversations.of("b", 0.0) is not first
    assert conversations.of("a", PAUSE_S) is first
    assert conversations.of("a", 2 * PAUSE_S + 1) is not first


def test_of_too_many_conversations_the_one_silent_longest_goes():
    conversations = Conversations()
    first, second = conversations.of("first", 0.0), conversations.of("second", 0.0)
    conversations.of("first", 1.0)
    for number in range(MOST_CONVERSATIONS - 1):
        conversations.of(f"caller{number}", 1.0)
    assert conversations.of("first", 2.0) is first
    assert conversations.of("second", 2.0) is not second
