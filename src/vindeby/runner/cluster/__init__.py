"""Workers beyond this machine: Dask clusters, and Dask on SLURM.

A Dask worker hosts the processes of ``vindeby.runner.local``, one for each of its threads, with all their protection:
a task that crashes, hangs or fills the memory takes its own process with it and never the Dask worker. Dask carries
tasks there and acknowledgements back; results go from the process to the run directory. So what Dask keeps only in
memory may be lost with any of its parts.

Reading order: ``agent`` (on a Dask worker), ``dask_link`` (everything that speaks to Dask), ``dask_pool``
(the pool), ``connect`` with ``slurm_jobs`` (where the workers come from).
"""
