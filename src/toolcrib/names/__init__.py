"""Names of tools: how the pool makes them, and what a pattern of the operator means by one."""
