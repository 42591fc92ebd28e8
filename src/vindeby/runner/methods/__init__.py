"""Ways to find a layout, as a worker uses them: the built-in search or a function of the user's own."""
