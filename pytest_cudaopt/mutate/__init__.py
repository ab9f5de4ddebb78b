"""Mutants of a starting kernel, to ask how many of them its tests notice.

`tokens` and `functions` read the source; `conditions`, `values`, `places` and `launches` know mistakes;
`mutants` makes candidates of them and chooses. Pure: nothing here compiles or runs.
"""
