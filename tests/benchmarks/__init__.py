"""Measurements of the program: `python -m tests.benchmarks`. Every figure stands beside another from the same run."""
