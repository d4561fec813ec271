"""What the wires of all providers share.

tool_list     the tools of a request: how many, with which schema, in which groups
reply         a reply read as plain JSON, and checked to be whole
calls         its calls, made through a session
outcome_text  their outcomes, in the words that a model reads
user_messages what the user wrote, which alone is prefetched
proxy         the one tool that calls every other, for lists that must not change
"""
