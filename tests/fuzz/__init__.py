"""Fuzzing of what reads hostile input: the judge of commands, the sanitiser, edits, and the reader of records."""
