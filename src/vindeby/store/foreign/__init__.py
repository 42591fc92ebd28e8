"""The only way to read unverified HDF5: files of other programs, and vindeby files without a valid seal.

``door.read_foreign`` gives the records of a file, and says what is wrong with the rest. It knows nothing of merges.
"""
