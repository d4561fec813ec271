"""Takes over the server lists of MCP clients, and gives them back.

    clients → document → entries → plan → backups
    which     its text   each in    what     what it
    client    edited     our words  changes  was before

Only the operator's commands come here: a plan is shown before anything is written.
"""
