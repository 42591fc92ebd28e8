"""Locks on a run directory that machines may share: one holder at a time, and none that is dead for long."""
