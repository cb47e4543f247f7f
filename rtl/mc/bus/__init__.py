"""AXI4 managers, and the distribution of lines among them."""
