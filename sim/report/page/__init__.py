"""A run as a page of HTML that needs nothing but itself."""
