"""Results as monitor, pictures, report and board read them, finished or while a campaign runs.

``sources`` opens what a user named and finds its campaign, ``columns`` holds all results as columns and leaves out
invalid ones, ``snapshot`` compares them with what a campaign asks for, ``observer`` looks again and again at little
cost, ``result_set`` and ``maps`` are for pictures and pages. Everything here only reads, and what it hands out was
verified by the store.
"""
