"""Workers as processes of this machine: the pool, the process that starts them, heartbeats, messages.

No worker outlives its coordinator, and which task killed a worker is always known.
"""
