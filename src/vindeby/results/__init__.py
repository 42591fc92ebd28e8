"""Results as monitor, pictures, report and board read them, finished or while a campaign runs.

``sources`` opens a database or a folder of files, ``columns`` holds all results as columns, ``expected`` compares them
with what a campaign asks for, ``observer`` looks again and again at little cost, and ``result_set`` is for pictures and
pages. Everything here only reads, and what it hands out was verified by the store.
"""
