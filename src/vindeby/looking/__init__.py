"""What people look at: the command line and, in time, monitor, pictures, report and board.

Stands on top: it may import every other part, and nothing imports it.
"""
