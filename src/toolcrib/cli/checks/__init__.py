"""What `toolcrib doctor` looks at: each check looks and does not touch."""
