"""Reading results: a database, a run in progress, a file that may be damaged.

Whatever is handed out was verified, and a bad file is read only inside a guarded child process.
"""
