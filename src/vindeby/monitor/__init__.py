"""A campaign in the terminal: one snapshot of it (``view``), or one after the other (``watch``).

What is shown is read by ``results.observer``; nothing here reads files.
"""
