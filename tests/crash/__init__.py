"""Crash tests: the real program is killed, and its disk fails, at every write of the record and at random instants.

`python -m tests.crash` runs the long form; `pytest tests/crash` a short one.
"""
