"""Search methods, one per file, each with the interface of ``vindeby.layout.method``."""
