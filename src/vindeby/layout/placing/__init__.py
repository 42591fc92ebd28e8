"""Smart starts: turbines placed one by one on the points of a grid.

``grid_wakes`` are the wakes on the grid, ``steps`` what one more turbine changes, ``construction`` a whole smart start.
"""
