"""Fetches and exports."""
