"""Regular layouts: lattices, their points in an area, surplus points, and the search for a good lattice."""
