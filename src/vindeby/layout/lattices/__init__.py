"""Regular layouts: lattices, their points in an area, which of them to leave empty, and the search for a good one."""
