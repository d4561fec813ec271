"""What whole tasks cost a model in tokens, done in three ways over real servers.

    task          a task: what the user asks, and what a scripted model does about it
    file_tasks    tasks about files and a database
    other_tasks   tasks about a repository, the web, time and a graph
    ground        what the tasks are about, made anew for each way
    conversation  the requests of one conversation, and their tokens
    ways          eager, search and code: the same task, done by a session
    measure       each task, in each way, among so many tools; and the table

`python -m benchmarks.tokens --tasks` runs them; `docs/benchmarks.md` has what it says.
"""
