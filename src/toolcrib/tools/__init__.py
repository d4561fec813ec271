"""The tools that come with Toolcrib: plain typed functions, declared in tools.yaml.

A function here raises an ordinary error whose message says what to do next; whoever runs it
makes that the outcome of the call. Nothing here is registered by being imported.
"""
