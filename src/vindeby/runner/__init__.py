"""The execution of a campaign, from its file to the merged, validated database, through any crash.

The promise: kill any process at any moment and run the same command again; nothing that was finished is lost
or computed twice, no process is left over and no lock is in the way. A task that crashes, hangs, fills the
memory or prints without end harms no other task.

This part composes ``campaign``, ``store`` and ``assembly``; of vindeby only ``vindeby run`` and
``vindeby.run`` import it.

Reading order: ``plan`` with ``protocol`` (every decision, without any I/O, and what a run needs of whatever does its
work), ``supervisor`` (plan and pool together), ``task_executor`` with ``publisher`` and ``methods`` (a task
from its method to the disk), ``local`` (the pool of this machine's processes), ``cluster`` (Dask and
SLURM), ``resume`` (what is known from earlier; the log of events is the store's), ``running`` (the whole).
"""

from vindeby.runner.methods.call import CallTask
from vindeby.runner.running import evaluate, run
from vindeby.runner.summary import Summary

__all__ = ["CallTask", "Summary", "evaluate", "run"]
