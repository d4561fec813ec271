"""What the operator wrote about servers: read, checked, and ready to be used.

    servers_file   the `mcpServers` files, several of them, as `ServerConfigs`
    server_entry   one entry of such a file, key by key, as a `ServerConfig`
    server         the nouns: `ServerConfig`, `ServerCommand`, `ServerAddress`, `OAuth`
    own_file       our own `servers.json`, which commands change
    switches       which servers and tools are switched off
    environment    `${NAME}` references, and the environment of a server's process
    secret_values  which values are secrets, and an entry without them
    package_runner npx, uvx and the like: commands that install a server before they run it
    fields         one JSON object, read key by key

Nothing here starts a server, and nothing loads the MCP SDK.
"""
