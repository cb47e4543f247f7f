"""Groups from their start to their retirement."""
