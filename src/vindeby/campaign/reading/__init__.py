"""From text to data: YAML, overrides, boundary files; every value keeps the place that it came from."""
