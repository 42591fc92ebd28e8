"""Workers as processes of this machine: the pool, the process that starts them, heartbeats.

No worker outlives its coordinator, and which task killed a worker is always known. Of the runner only ``running``
imports this: it is one of the pools that ``vindeby.runner.protocol`` makes possible.

Reading order: ``local_pool`` (the coordinator's side), ``heartbeats`` (what each worker is on), ``spawner`` (who starts
and ends processes), ``worker`` (the process that does tasks).
"""
