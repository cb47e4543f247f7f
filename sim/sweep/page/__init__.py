"""A sweep as a page of HTML that needs nothing but itself."""
