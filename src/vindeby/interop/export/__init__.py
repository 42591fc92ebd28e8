"""Results for other tools: netCDF, Zarr, Parquet, CSV, windIO, GeoJSON, FLORIS; one module per format.

Only verified results are exported, and each file or folder is put in place as a whole (``placing``).
"""
