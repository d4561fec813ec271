"""The thin end of the gateway: what an MCP client launches. Standard library only."""
