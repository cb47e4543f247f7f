"""What is outside is cut away: planes, polygons, pieces."""
