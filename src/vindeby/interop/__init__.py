"""The files, objects and engines that people already have: windIO, PyWake, WAsP, FLORIS, GeoJSON, xarray."""
