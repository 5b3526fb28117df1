"""Pictures of the running program for the README: ``python -m tests.pictures`` draws them again."""
