"""Boundaries and positions from geographic files: GeoJSON, shapefile, GeoPackage, KML, file geodatabase."""
