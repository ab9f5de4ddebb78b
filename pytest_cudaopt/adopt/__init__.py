"""Adopting: from a `.cu` file that knows nothing of this package to a test module for its kernels.

`tokens`, `declarations`, `types` and `bodies` read the text; `compiling` asks the compiler; `proposal`
guesses what a declaration needs; `module_text` writes it. Guesses are marked, since no file says what its
arrays mean.
"""
