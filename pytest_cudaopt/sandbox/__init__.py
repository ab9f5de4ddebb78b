"""Run a Python function that a model wrote, where it can reach nothing but its arguments and its results.

`box.Sandbox` is the door; `call.Call` what goes in, `outcome.SandboxRun` what comes out. Files whose first
line says so run on the inside, in a process that holds nothing worth stealing.
"""
