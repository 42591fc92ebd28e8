"""Shards into a new OUT.h5: what is there, what is chosen, what is written, and the record of it.

Killed at any moment, the old OUT.h5 or the new one stands, whole, with every shard that is not in it.
"""
