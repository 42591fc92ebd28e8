"""Everything on disk: durable writes, locks, processes, the run directory and event logs.

Knows nothing of records. What a function here says is durable survives the death of the process and the machine.
"""
