"""The optimising agent: propose candidates, have each judged, keep the fastest one that passed everything.

Only this package imports langgraph. It never judges: `pipeline.evaluate` does.
"""
