"""Toolcrib beside what people would pick instead: the same tools, the same requests, one run.

`systems` has them all behind one protocol, `child` measures one of them in a process of its own,
`__main__` runs them in turn, `report` and `chart` make the page of it.
"""
