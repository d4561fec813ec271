"""Three gateways on one PostgreSQL database, and what they are put through.

    __main__        clients work while things break; what was acknowledged is looked for at the end
    spread          from a commit on one replica to a search that finds it on three
    start           what a replica computes until it is ready
    rates           searches and calls a second, of one replica and of three
    tenants         many tenants on one replica, in a budget of memory

    cluster         what runs: replicas, HAProxy, the database; all of it real
    database_pair   PostgreSQL and its synchronous standby
    network         the one between replicas and database, which can be cut
    shop_server     the MCP server behind the replicas
    client          an MCP client over HTTP, in both eras
    load            what clients and the operator do
    ledger          what was acknowledged, and what became of it
    faults          what breaks, and when
    tenant_seed     tenants, written into a database

The first five are programs; `docs/benchmarks.md` has what they say.
"""
