"""The reading of campaign files: YAML, overrides, boundary files; every value keeps its origin."""
