"""The merge of shards into a new OUT.h5: find, select, write, and record the merge.

Killed at any moment, the old OUT.h5 or the new one stands, whole, with every shard that is not in it.
"""
