"""What the methods that move all turbines along the gradient share."""
