"""Sites and turbines of vindeby as PyWake objects, and back."""
