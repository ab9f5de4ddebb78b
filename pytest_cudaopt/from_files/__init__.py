"""A kernel declared by files instead of a test module: signature, reference, source, cases.

The formats are those of a run folder, so that what a run was given can be given to another.
"""
