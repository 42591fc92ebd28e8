"""The bytes of a file: records, rows and checksums, the seal, shards, the two file formats of a database.

Everything here turns records into bytes or verified bytes into records. A byte that does not match its digest is
never handed out.
"""
