"""The store of results: shards, merge, validation, salvage and the database. It knows nothing about wind.

The promise: a record that was acknowledged is never lost to a dead process, a dead machine, a full disk or a
flipped bit, and a wrong one is never passed off as right. It may import ``vindeby.errors``, ``vindeby.units``
and ``vindeby.campaign``; ``assembly``, ``runner``, ``results`` and what stands above may import it. h5py lives here
and nowhere else.

Reading order, which is also the order in which the packages may import each other:

- ``disk``: durable writes (``files``), locks, the run directory, event logs;
- ``format``: what is kept (``record``), many records as one array with their checksums (``rows``), how a file proves
  that it is whole (``seal``), how a worker publishes results (``shard``), the root attributes (``root``), the two file
  formats of a database (``classic``, ``table``), and new netCDF files (``netcdf``);
- ``foreign``: the one door for HDF5 that nobody vouches for (``door``), which a child process reads (``guard``,
  ``child``);
- ``read``: one file in whatever state (``reading``), and a database (``database``);
- ``merge``: shards to one database;
- ``states``, ``validate`` and ``salvage``: what state each task is in, what is wrong, and what can be saved.

A path becomes a ``RunDirectory`` once, and travels as that: ``Database``, ``merge``, ``validate`` and ``salvage`` take
either.
"""
