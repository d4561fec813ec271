"""How well search finds what it should, on a catalog and queries with known answers."""
