"""The read model of results: what is expected, what is there, and columns of it; every view and export asks it.

``sources`` opens what a user named and finds its campaign, ``expected`` has the cells, seeds and names of the campaign,
``result_set`` the results as ``columns``, without invalid ones, and ``snapshot`` the counts of one moment as plain
values. Everything here only reads, and what it hands out was verified by the store.
"""
