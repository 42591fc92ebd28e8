"""Searches that also choose how many turbines there are, or how many of each type."""
