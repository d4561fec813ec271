"""`python -m toolcrib.cli` is `toolcrib`."""

from toolcrib.cli import main

main()
