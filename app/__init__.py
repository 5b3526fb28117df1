"""Palimpsest: a pair programmer in the terminal whose conversation never ends."""

__version__ = "0.1.0"
