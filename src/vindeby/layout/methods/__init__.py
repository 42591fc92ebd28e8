"""One search method per file, each behind the contract in ``vindeby.layout.method``."""
