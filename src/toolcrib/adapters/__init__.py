"""Toolcrib in the words of a provider's API or of an agent framework: one adapter each.

    from toolcrib.adapters.anthropic import AnthropicWire

Import the adapter you need; importing this package loads none, since each needs its own SDK.

    anthropic         Anthropic Messages: `AnthropicWire`
    openai_responses  OpenAI Responses: `ResponsesWire`
    openai_chat       OpenAI Chat Completions, and every gateway that speaks it: `ChatWire`
    gemini            Gemini: `GeminiWire`, `whole_reply`
    langchain         LangChain agents: `ToolcribMiddleware`
    langgraph         LangGraph: `ApprovalToolNode`
    pydantic_ai       pydantic-ai: `ToolcribToolset`, `toolcrib_search`
    openai_agents     OpenAI Agents SDK: `toolcrib_tools`, `toolcrib_note`, `revealed`
    auto              which wire to speak to which model at which endpoint: `Auto`

    conversation ──> session.see(revealed names, user's messages) ──> request: messages and tools
    reply ──> calls ──> session.call ──> results, in the provider's words

What an adapter promises is in its own `__init__`. What they share stands below them: `wire` for the
providers' APIs, `langchain_messages`, `injection` and `interrupts` for LangChain and LangGraph,
`auto_table` for what each provider's models can do. No adapter knows another.

Each adapter prefetches: what the user's newest message surely needs is in the next request, unless
the model is known to search by itself.

An adapter holds no state of its own beyond the conversation: what is revealed is read from the
messages, so that a checkpoint brings it back and a summary forgets it. Every call goes through the
session, and so through the one door of `toolcrib.execute`.
"""
