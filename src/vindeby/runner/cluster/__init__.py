"""Workers on other machines: Dask clusters.

A batch of tasks is a Dask future, and its tasks run in a process of ``vindeby.runner.local`` on the Dask worker, with
all its protection: a task that crashes, hangs or fills the memory takes its own process with it and never the Dask
worker. Results go from the process to the run directory. So what Dask keeps only in memory may be lost with any of its
parts.

Reading order: ``batch`` (on a Dask worker), ``dask_pool`` (the pool), ``connect`` (where the workers come from).
"""
