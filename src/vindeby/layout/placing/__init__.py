"""What one more turbine changes, on the grid of a smart start.

Kept between steps, for every wind direction and speed: the wind at each placed turbine, and the wakes gathered
at each free point. Placing a turbine changes the thrust of the turbines in its wake, of those in theirs, and
so on downwind; each of these passes on the difference between its new wake and its old one. Nothing else is
touched: not the turbines upwind, not the points outside those wakes.

Turbines that stand off the grid (neighbours) take part in the same way; their pairs are computed, not looked
up. Turbines are numbered in the order in which they come, neighbours first.

``grid_wakes`` are the wakes on the grid, ``unwaked_sources`` those of turbines that stand in none. ``state`` is what is
kept between steps, ``gathering`` has the parts of a step, ``step`` puts them together, with ``choosing`` where places
are chosen there. ``construction`` is a whole smart start, ``judged_construction`` one whose points another tool judges.
"""
