"""What the array writes: elements, combined into lines."""
