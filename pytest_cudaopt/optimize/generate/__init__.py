"""From a sentence to a declared kernel: each part is asked of a model, and checked before the next.

`graph.generate` is the entry; `forms` are what a model fills in, `questions` the words around them.
"""
