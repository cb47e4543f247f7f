"""Writes of the array: elements, combined into lines."""
