"""AXI4 managers, and lines of memory shared out among them."""
