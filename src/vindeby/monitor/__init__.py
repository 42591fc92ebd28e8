"""A campaign in the terminal: one snapshot of it (``view``), or one after the other (``watch``).

What is shown is read by ``ResultSet.look``; nothing here reads files.
"""
