"""The two forms of a database as HDF5 files, classic and table: what the library would write, encoded by hand."""
