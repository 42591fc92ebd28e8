"""Where results live: shards, merge, validate, salvage, the database. It knows nothing of wind.

The promise: a record that was acknowledged is never lost to a dead process, a dead machine, a full disk or a
flipped bit, and a wrong one is never passed off as right. It may import ``vindeby.errors``, ``vindeby.units``
and ``vindeby.campaign``; ``runner``, ``interop`` and ``looking`` may import it. h5py lives here and nowhere
else.

Reading order: ``record`` (what is kept), ``rows`` (many records as one array, and their checksums), ``seal``
(how a file proves that it is whole), ``image`` and ``publish`` (the shard protocol), ``rundir`` and ``lock``
(the run directory), ``merge`` with ``layouts`` (shards to one database), ``database`` (reading it),
``inspect``, ``guard`` and ``foreign`` (reading a file that may be bad), ``validate``, ``missing`` and
``salvage``.
"""
