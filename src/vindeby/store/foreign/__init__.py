"""The one door for HDF5 that nobody vouches for: files of other programs, and ours without a valid seal.

``door.read_foreign`` gives the records of a file, and says what is wrong with the rest. It knows nothing of merges.
"""
